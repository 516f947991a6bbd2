//! What is kept of a call.

use std::time::SystemTime;

use callgate_guest::{Completion, Dispatch, Ending, Failure, Payload, Report, Step};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// How much of a call's arguments is kept.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Arguments {
    Digest,
    Full,
}

/// One record.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Record<'a> {
    sequence: i32,
    /// Milliseconds since 1970.
    time_ms: u64,
    call: &'a str,
    host_run: String,
    continuation: bool,
    subject: &'a str,
    issuer: Option<&'a str>,
    tenant: Option<&'a str>,
    auth_method: &'a str,
    roles: &'a [String],
    tool: &'a str,
    /// None where access could not be decided.
    method: Option<&'a str>,
    arguments_digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a RawValue>,
    /// `executed`, `input-required`, `task`, `answered`, `denied`, `withdrawn` or `failed`.
    ending: &'static str,
    /// The listener that answered, denied or failed.
    by: Option<&'a str>,
    failure: Option<&'a str>,
    failure_detail: Option<&'a str>,
    /// Whether the result says so itself; none without a result, or where it is too large to look into.
    is_error: Option<bool>,
    /// Whether the tool was reached: `none`, `unknown` or `done`.
    dispatch: &'static str,
    duration_ms: f64,
    steps: Vec<StepRecord<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct StepRecord<'a> {
    listener: &'a str,
    digest: &'a str,
    said: &'a str,
    private_reason: Option<&'a str>,
    micros: u32,
}

impl<'a> Record<'a> {
    pub(crate) fn of(report: &'a Report, sequence: i32, time_ms: u64, arguments: Arguments) -> Self {
        let call = &report.call;
        let (ending, by, failure) = ending(&report.ending);
        Self {
            sequence,
            time_ms,
            call: &call.id,
            host_run: call.host_run(),
            continuation: call.continuation,
            subject: &call.caller.subject,
            issuer: call.caller.issuer.as_deref(),
            tenant: call.caller.tenant.as_deref(),
            auth_method: &call.caller.auth_method,
            roles: &call.caller.roles,
            tool: &call.identifier,
            method: report.row.as_ref().map(|row| row.rpc_method.as_str()),
            arguments_digest: call.arguments.digest(),
            arguments: match arguments {
                Arguments::Digest => None,
                Arguments::Full => call.arguments.text().and_then(|text| serde_json::from_str(text).ok()),
            },
            ending,
            by,
            failure: failure.map(|failure| failure.kind.as_str()),
            failure_detail: failure.map(|failure| failure.detail.as_str()),
            is_error: report.reply.as_ref().and_then(Payload::text).map(is_error),
            dispatch: match report.dispatch {
                Dispatch::None => "none",
                Dispatch::Unknown => "unknown",
                Dispatch::Done => "done",
            },
            duration_ms: report.duration_ms,
            steps: report.steps.iter().map(StepRecord::of).collect(),
        }
    }
}

impl<'a> StepRecord<'a> {
    fn of(step: &'a Step) -> Self {
        Self {
            listener: &step.listener,
            digest: &step.digest,
            said: &step.said,
            private_reason: step.private_reason.as_deref(),
            micros: step.micros,
        }
    }
}

fn ending(ending: &Ending) -> (&'static str, Option<&str>, Option<&Failure>) {
    match ending {
        Ending::Executed(Completion::Complete) => ("executed", None, None),
        Ending::Executed(Completion::InputRequired) => ("input-required", None, None),
        Ending::Executed(Completion::Task) => ("task", None, None),
        Ending::Answered(listener) => ("answered", Some(listener), None),
        Ending::Denied(listener) => ("denied", Some(listener), None),
        Ending::Withdrawn => ("withdrawn", None, None),
        Ending::Failed(failure) => ("failed", failure.listener.as_deref(), Some(failure)),
    }
}

fn is_error(result: &str) -> bool {
    let result: Option<serde_json::Value> = serde_json::from_str(result).ok();
    result.is_some_and(|result| result.get("isError") == Some(&serde_json::Value::Bool(true)))
}

pub(crate) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
