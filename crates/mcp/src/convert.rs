//! From what the dispatcher says to what goes over the wire (W1).

use callgate_core::json::members;
use callgate_core::refusal::RefusalForm;
use callgate_core::report::Completion;
use callgate_core::tool::ReplyBody;
use callgate_core::{Json, Outcome, Refusal, dispatcher};

use crate::edit;
use crate::envelope::{self, Id, code};
use crate::era::Era;

/// The response to a call; none where the caller has left.
pub(crate) fn response(id: &Id, era: Era, outcome: Outcome) -> Option<Json> {
    Some(match outcome {
        Outcome::Executed(reply) => match (reply.message, reply.body) {
            (Some(message), _) => message,
            (None, ReplyBody::Result(result)) => envelope::result(id, &own_result(result, era)),
            (None, ReplyBody::Error(error)) => envelope::with_error(Some(id), &error),
        },
        Outcome::Answered(result) | Outcome::Denied(result) => envelope::result(id, &own_result(result, era)),
        Outcome::Refused(refusal) => refused(id, era, &refusal),
        Outcome::Departed => return None,
    })
}

/// The response that gives a refusal's text.
pub(crate) fn refused(id: &Id, era: Era, refusal: &Refusal) -> Json {
    match refusal.form() {
        RefusalForm::ProtocolError => envelope::error(Some(id), code::INVALID_PARAMS, &refusal.to_string()),
        RefusalForm::ToolResult => {
            envelope::result(id, &own_result(dispatcher::error_result(&refusal.to_string()), era))
        }
    }
}

/// A result that does not come from an upstream, with the type that its era has for a complete one.
pub(crate) fn own_result(result: Json, era: Era) -> Json {
    let text = match era {
        Era::Modern => edit::set(result.as_str(), &["resultType"], "\"complete\""),
        Era::Legacy => edit::remove(result.as_str(), &["resultType"]),
    };
    Json::parse(&text).unwrap_or(result)
}

/// Whether a result of an upstream is its last word on the call (W4, W5).
pub(crate) fn completion(result: &Json) -> Completion {
    let Some(members) = members(result.as_str()) else { return Completion::Complete };
    let kind = members.get("resultType").and_then(|kind| serde_json::from_str::<String>(kind.get()).ok());
    match kind.as_deref() {
        Some("input_required") => Completion::InputRequired,
        Some("task") => Completion::Task,
        // The result of the handshake era that stands for a task has no content.
        _ if members.get("content").is_none() && members.get("task").is_some() => Completion::Task,
        _ => Completion::Complete,
    }
}

#[cfg(test)]
mod tests {
    use callgate_core::tool::ToolReply;

    use super::*;

    fn id() -> Id {
        Id::read("7").unwrap()
    }

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    #[test]
    fn w1_unknown_tools_and_missing_names_are_protocol_errors() {
        for (refusal, text) in [
            (Refusal::UnknownTool("x".into()), "Error: Unknown tool 'x'."),
            (Refusal::ToolNameRequired, "Error: Tool name is required."),
        ] {
            for era in [Era::Legacy, Era::Modern] {
                assert_eq!(
                    refused(&id(), era, &refusal).as_str(),
                    format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":-32602,"message":"{text}"}}}}"#)
                );
            }
        }
    }

    #[test]
    fn w1_all_other_refusals_are_tool_results_with_one_text_block() {
        let result = |era| refused(&id(), era, &Refusal::AccessNotVerified).to_string();
        let block = r#"{"type":"text","text":"Error: Tool access could not be verified."}"#;
        let legacy = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"content":[{block}],"isError":true}}}}"#);
        assert_eq!(result(Era::Legacy), legacy);
        let modern: serde_json::Value = serde_json::from_str(&result(Era::Modern)).unwrap();
        assert_eq!(modern["result"]["resultType"], "complete");
    }

    #[test]
    fn b5_an_answer_keeps_its_bytes_but_for_the_type_that_its_era_has() {
        let answer = json(r#"{ "x":1.0, "resultType":"other", "content":[ ] }"#);
        let answered = |era| response(&id(), era, Outcome::Answered(answer.clone())).unwrap().to_string();
        assert!(answered(Era::Modern).ends_with(r#""result":{ "x":1.0, "resultType":"complete", "content":[ ] }}"#));
        assert!(answered(Era::Legacy).ends_with(r#""result":{ "x":1.0, "content":[ ] }}"#));
    }

    #[test]
    fn w2_an_executed_reply_is_the_upstreams_own_line() {
        let line = json(r#"{ "id" : 7, "jsonrpc":"2.0", "result":{"content":[]}, "more":1e2 }"#);
        let reply = ToolReply { message: Some(line.clone()), ..ToolReply::result(json("{}")) };
        assert_eq!(response(&id(), Era::Modern, Outcome::Executed(reply)), Some(line));
        assert_eq!(response(&id(), Era::Modern, Outcome::Departed), None);
    }

    #[test]
    fn w4_w5_a_result_that_is_not_the_last_word_is_known_as_such() {
        for (text, expected) in [
            (r#"{"content":[]}"#, Completion::Complete),
            (r#"{"content":[],"resultType":"complete"}"#, Completion::Complete),
            (r#"{"resultType":"input_required","requestState":"s"}"#, Completion::InputRequired),
            (r#"{"resultType":"task","taskId":"t"}"#, Completion::Task),
            (r#"{"task":{"taskId":"t"}}"#, Completion::Task),
            (r#"{"content":[],"task":{}}"#, Completion::Complete),
        ] {
            assert_eq!(completion(&json(text)), expected, "{text}");
        }
    }
}
