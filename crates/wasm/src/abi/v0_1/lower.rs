//! Core's types as the guest sees them. What is over its cap is replaced before anything is copied into a guest (F4).

use callgate_core::caller::Caller;
use callgate_core::json::{Entry, Json};
use callgate_core::registry::{Reach, Row};
use callgate_core::report::{CallFailure, CallReport, Completion, Dispatch, Ending, Step};
use callgate_core::request::{Round, ToolCallContext};

use super::bindings::callgate::listener::types;
use super::bindings::exports::callgate::listener::after_call;

/// The longest tool name that crosses, in characters. Longer ones are no rows: callers made them up.
const NAME: usize = 1_024;
/// The longest failure detail and private reason that crosses, in characters.
const DETAIL: usize = 4_096;

/// The largest JSON text, in bytes, that is handed over as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PayloadCap(pub(crate) usize);

pub(crate) fn caller(caller: &Caller) -> types::Caller {
    let identity = caller.identity();
    types::Caller {
        subject: identity.subject.clone(),
        issuer: identity.issuer.clone(),
        auth_method: identity.auth_method.clone(),
        roles: identity.roles.clone(),
        tenant: identity.tenant.clone(),
        claims: entries(&identity.claims),
        attributes: entries(&identity.attributes),
    }
}

pub(crate) fn row(row: &Row) -> types::Row {
    types::Row {
        identifier: row.identifier.clone(),
        rpc_method: row.rpc_method.clone(),
        section: row.section.clone(),
        generic: row.reach == Reach::Generic,
        definition_digest: row.definition_digest.clone(),
        attributes: entries(&row.attributes),
    }
}

pub(crate) fn tool_call(call: &ToolCallContext, cap: PayloadCap) -> types::ToolCall {
    types::ToolCall {
        id: call.id.clone(),
        caller: caller(&call.caller),
        identifier: cut(&call.identifier, NAME),
        arguments: payload(&call.arguments, cap),
        meta: entries(call.meta.entries()),
        meta_dropped: call.meta.dropped(),
        continuation: call.round == Round::Continuation,
        attributes: entries(&call.attributes),
    }
}

pub(crate) fn report(report: &CallReport, cap: PayloadCap) -> after_call::Report {
    after_call::Report {
        call: tool_call(&report.call, cap),
        row: report.call.row.as_deref().map(row),
        ending: ending(&report.ending),
        dispatch: match report.dispatch {
            Dispatch::None => after_call::Dispatch::None,
            Dispatch::Unknown => after_call::Dispatch::Unknown,
            Dispatch::Done => after_call::Dispatch::Done,
        },
        reply: report.reply.as_ref().map(|reply| payload(reply, cap)),
        duration_ms: report.duration.as_secs_f64() * 1_000.0,
        steps: report.steps.iter().map(step).collect(),
        attributes: Vec::new(),
    }
}

fn ending(ending: &Ending) -> after_call::Ending {
    match ending {
        Ending::Executed(completion) => after_call::Ending::Executed(match completion {
            Completion::Complete => after_call::Completion::Complete,
            Completion::InputRequired => after_call::Completion::InputRequired,
            Completion::Task => after_call::Completion::Task,
        }),
        Ending::Answered { listener } => after_call::Ending::Answered(listener.clone()),
        Ending::Denied { listener } => after_call::Ending::Denied(listener.clone()),
        Ending::Withdrawn => after_call::Ending::Withdrawn,
        Ending::Failed(CallFailure { kind, listener, detail }) => after_call::Ending::Failed(after_call::Failure {
            kind: kind.as_str().to_owned(),
            listener: listener.clone(),
            detail: cut(detail, DETAIL),
        }),
    }
}

fn step(step: &Step) -> after_call::Step {
    after_call::Step {
        listener: step.listener.clone(),
        digest: step.digest.clone(),
        said: step.said.as_str().to_owned(),
        private_reason: step.private_reason.as_deref().map(|reason| cut(reason, DETAIL)),
        micros: u32::try_from(step.duration.as_micros()).unwrap_or(u32::MAX),
    }
}

fn payload(json: &Json, cap: PayloadCap) -> types::Payload {
    let bytes = json.as_str().len();
    if bytes <= cap.0 {
        return types::Payload::Text(json.as_str().to_owned());
    }
    types::Payload::Oversize(types::Oversize { bytes: u32::try_from(bytes).unwrap_or(u32::MAX), digest: json.digest() })
}

fn entries(entries: &[Entry]) -> Vec<types::Entry> {
    let entry = |entry: &Entry| types::Entry { key: entry.key.clone(), value: entry.value.as_str().to_owned() };
    entries.iter().map(entry).collect()
}

/// At most so many characters; a text that was cut ends in `…`.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.split_at(end).0),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f4_a_payload_over_the_cap_crosses_as_size_and_digest() {
        let json = Json::string("abcdefgh");
        assert!(matches!(payload(&json, PayloadCap(10)), types::Payload::Text(text) if text == json.as_str()));
        let types::Payload::Oversize(stand_in) = payload(&json, PayloadCap(9)) else { panic!("it crossed") };
        assert_eq!((stand_in.bytes, stand_in.digest), (10, json.digest()));
    }

    #[test]
    fn f4_a_name_that_a_caller_made_up_is_bounded() {
        assert_eq!(cut("ééé", 3), "ééé");
        assert_eq!(cut("éééé", 3), "ééé…");
    }
}
