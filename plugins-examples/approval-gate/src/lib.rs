//! Denies calls until an operator approved exactly that call.
//!
//! The denial names a ticket. An operator reads what it stands for and types `callgate approve TICKET`; the caller repeats the
//! call. A ticket is good for one run of one call: same caller, same tool by the same definition, same arguments. A call with
//! other arguments has another ticket and burns none. A call that is approved and then never reaches its tool, because another
//! listener refused or answered it, leaves the ticket as good as it was.

mod ticket;

use callgate_guest::state;
use callgate_guest::{
    AfterCallHook, BeforeCallHook, Completion, Dispatch, Ending, Report, Row, ToolCall, Verdict, config, pattern,
};
use ticket::{Stage, Ticket};

struct ApprovalGate;

callgate_guest::export!(ApprovalGate: before_call, after_call);

impl BeforeCallHook for ApprovalGate {
    fn decide(call: ToolCall, row: Row) -> Result<Verdict, String> {
        if !needs_approval(&row)? {
            return Ok(Verdict::Proceed);
        }
        let key = ticket::key(&call, &row);
        let requested = Ticket::request(&call, &row, minutes()?);
        let Some(text) = state::get(&key)? else {
            state::put_if_absent(&key, &requested.to_json()?, requested.keep())?;
            return Ok(ask_for(&key));
        };
        let held = Ticket::from_json(&text)?;
        if !held.is_for(&requested) {
            return Ok(Verdict::deny("Another call has the ticket that this one would need. Try again later."));
        }
        match held.stage {
            _ if held.has_expired() => ask_again(&key, &text, &requested),
            Stage::Pending => Ok(ask_for(&key)),
            Stage::Approved => take(&key, &text, &held, &call),
            Stage::Continuing if call.continuation => take(&key, &text, &held, &call),
            Stage::Taken if held.host_run == call.host_run() => Ok(Verdict::deny(
                "This call was approved once and is running. Wait for its end; to run it again needs another approval.",
            )),
            // Left behind by a caller who dropped the exchange, or by a host that ended in mid-call. It may have run, so
            // that approval is spent.
            Stage::Continuing | Stage::Taken => ask_again(&key, &text, &requested),
        }
    }
}

impl AfterCallHook for ApprovalGate {
    fn notify(report: Report) -> Result<(), String> {
        let Some(row) = &report.row else { return Ok(()) };
        if !needs_approval(row)? {
            return Ok(());
        }
        let key = ticket::key(&report.call, row);
        let Some(text) = state::get(&key)? else { return Ok(()) };
        let held = Ticket::from_json(&text)?;
        if held.stage != Stage::Taken || held.taken_by != report.call.id {
            return Ok(());
        }
        let left = match (report.dispatch, &report.ending) {
            (Dispatch::None, _) if report.call.continuation => Some(Stage::Continuing),
            (Dispatch::None, _) => Some(Stage::Approved),
            // The call is not over: its next round is the same call, and only that round may go on with this approval.
            (_, Ending::Executed(Completion::InputRequired)) => Some(Stage::Continuing),
            _ => None,
        };
        match left {
            Some(stage) => state::replace(&key, &text, &held.at(stage).to_json()?, held.keep())?,
            None => state::remove_if(&key, &text)?,
        };
        Ok(())
    }
}

/// Of many equal calls that arrive at once with one approval, the store lets one have it.
fn take(key: &str, text: &str, held: &Ticket, call: &ToolCall) -> Result<Verdict, String> {
    let taken = held.taken_by(call);
    if state::replace(key, text, &taken.to_json()?, taken.keep())? {
        return Ok(Verdict::Proceed);
    }
    Ok(Verdict::deny(
        "The approval of this call was just used by an equal call. To run it again needs another approval.",
    ))
}

fn ask_again(key: &str, text: &str, requested: &Ticket) -> Result<Verdict, String> {
    state::replace(key, text, &requested.to_json()?, requested.keep())?;
    Ok(ask_for(key))
}

fn ask_for(key: &str) -> Verdict {
    let ticket = key.trim_start_matches(ticket::PREFIX);
    Verdict::deny_privately(
        format!(
            "This call needs an operator's approval. Ask for `callgate approve {ticket}`, then repeat the call with exactly \
             these arguments."
        ),
        format!("waits for approval under ticket {ticket}"),
    )
}

fn needs_approval(row: &Row) -> Result<bool, String> {
    let tools: Option<Vec<String>> = config::get("tools")?;
    Ok(tools.is_none_or(|patterns| pattern::any_matches(&patterns, &row.identifier)))
}

/// For how long a request waits for its approval and an approval for its call.
fn minutes() -> Result<u32, String> {
    Ok(config::get_or("minutes", 60)?)
}

#[cfg(test)]
mod tests;
