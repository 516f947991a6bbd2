//! Runs a call once for each idempotency key and answers its repeats from the store.
//!
//! A client that may have to repeat a call names it in `_meta`: `"festi/idempotencyKey": "order-17"`. The key counts for one
//! caller and one tool. The first call with it claims it; the end of that call, and nothing else, decides what becomes of the
//! claim. What is never known to have ended is never run again by itself.

mod record;

use callgate_guest::state::{self, Keep, StateError};
use callgate_guest::{
    AfterCallHook, BeforeCallHook, Completion, Dispatch, Ending, Payload, Report, Row, ToolCall, Verdict, config,
};
use record::{Progress, Record};

const META_KEY: &str = "festi/idempotencyKey";

struct IdempotencyLedger;

callgate_guest::export!(IdempotencyLedger: before_call, after_call);

impl BeforeCallHook for IdempotencyLedger {
    fn decide(call: ToolCall, row: Row) -> Result<Verdict, String> {
        // A result that could not be kept afterwards would leave a call that ran without a word: rather fail before it.
        kept()?;
        let key = match idempotency_key(&call) {
            Ok(None) => return Ok(Verdict::Proceed),
            Ok(Some(key)) => record::key(&call.caller, &row, &key),
            Err(reason) => return Ok(Verdict::deny(reason)),
        };
        let claim = Record::claim(&call);
        let Some(text) = state::put_if_absent(&key, &claim.to_json()?, Keep::Forever)? else {
            return Ok(Verdict::Proceed);
        };
        let there = Record::from_json(&text)?;
        if there.arguments_digest != claim.arguments_digest {
            return Ok(Verdict::deny(format!("This `{META_KEY}` was used with other arguments. Use a new key.")));
        }
        Ok(match there.progress {
            Progress::Running { host_run, .. } if host_run == call.host_run() => {
                Verdict::deny("A call with this key is already running. Retry once it finished to get its result.")
            }
            Progress::Running { .. } | Progress::Unknown => Verdict::deny(UNKNOWN),
            // The tool asked for input, and this is the round that brings it, or the caller begins the exchange anew.
            Progress::Waiting if state::replace(&key, &text, &claim.to_json()?, Keep::Forever)? => Verdict::Proceed,
            Progress::Waiting => Verdict::deny("A call with this key is already running. Retry once it finished."),
            Progress::Completed { .. } if call.continuation => {
                Verdict::deny("This call has already ended. Repeat its first round to get its result.")
            }
            Progress::Completed { result } => Verdict::Answer(result),
            Progress::Unkept => Verdict::deny(UNKEPT),
        })
    }
}

const UNKNOWN: &str = "An earlier call with this key may have run, or may still be running elsewhere: its end was never recorded. \
                       It is not run again by itself. An operator must find out what became of it.";
const UNKEPT: &str = "A call with this key has already run. Its result was too large to keep or came later, so it can not be \
                      given again. To run it anew, use a new key.";

impl AfterCallHook for IdempotencyLedger {
    fn notify(report: Report) -> Result<(), String> {
        let (Some(row), Ok(Some(key))) = (&report.row, idempotency_key(&report.call)) else { return Ok(()) };
        let key = record::key(&report.call.caller, row, &key);
        let Some(text) = state::get(&key)? else { return Ok(()) };
        let claim = Record::from_json(&text)?;
        // The duplicates that were refused or answered meanwhile end here: the claim is not theirs.
        if !claim.is_held_by(&report.call) {
            return Ok(());
        }
        match progress(&report)? {
            None => state::remove_if(&key, &text)?,
            Some(progress) => settle(&key, &text, claim.with(progress))?,
        };
        Ok(())
    }
}

/// What the end of the call that holds the claim leaves behind: none gives the key free.
fn progress(report: &Report) -> Result<Option<Progress>, String> {
    Ok(match (report.dispatch, &report.ending) {
        (Dispatch::None, _) if report.call.continuation => Some(Progress::Waiting),
        (Dispatch::None, _) => None,
        (_, Ending::Executed(Completion::Complete)) => match &report.reply {
            Some(Payload::Text(result)) if is_error(result) && !config::get_or("store-errors", true)? => None,
            Some(Payload::Text(result)) => Some(Progress::Completed { result: result.clone() }),
            Some(Payload::Oversize(_)) | None => Some(Progress::Unkept),
        },
        (_, Ending::Executed(Completion::InputRequired)) => Some(Progress::Waiting),
        (_, Ending::Executed(Completion::Task)) => Some(Progress::Unkept),
        // The caller was told in so many words that it failed, so a retry is what it wants.
        (Dispatch::Done, Ending::Failed(failure)) if ["tool", "upstream"].contains(&failure.kind.as_str()) => None,
        _ => Some(Progress::Unknown),
    })
}

/// Swaps the claim for what became of it. A result that is larger than a value of the store may be is not kept.
fn settle(key: &str, text: &str, record: Record) -> Result<bool, String> {
    let keep = match record.progress {
        Progress::Unknown => Keep::Forever,
        _ => kept()?,
    };
    match state::replace(key, text, &record.to_json()?, keep) {
        Err(StateError::OutOfBounds) => Ok(state::replace(key, text, &record.with(Progress::Unkept).to_json()?, keep)?),
        settled => Ok(settled?),
    }
}

/// The key that protects the call; none where its caller asked for no protection.
fn idempotency_key(call: &ToolCall) -> Result<Option<String>, String> {
    match call.meta::<String>(META_KEY) {
        Ok(Some(key)) if !key.is_empty() => Ok(Some(key)),
        Ok(None) if call.meta_dropped == 0 => Ok(None),
        // The key may have been among them, and running the call unprotected is the one thing its caller does not want.
        Ok(None) => Err("Some of the call's `_meta` is larger than its bounds. Send less of it.".to_owned()),
        Ok(Some(_)) | Err(_) => Err(format!("`{META_KEY}` in `_meta` must be a string that is not empty.")),
    }
}

/// For how long results are kept.
fn kept() -> Result<Keep, String> {
    match config::get_or("keep-hours", 24)? {
        hours @ 1..=1_000 => Ok(Keep::For(std::time::Duration::from_secs(hours * 3_600))),
        other => Err(format!("`keep-hours` is {other}, and must be from 1 to 1000")),
    }
}

fn is_error(result: &str) -> bool {
    let result: Option<serde_json::Value> = serde_json::from_str(result).ok();
    result.is_some_and(|result| result.get("isError") == Some(&serde_json::Value::Bool(true)))
}

#[cfg(test)]
mod tests;
