//! What a listener may answer with in the place of a tool (B5).

use callgate_core::{Json, Outcome, Refusal, Verdict};

use crate::governed::{self, COUNTED, PLAIN};
use crate::reading::{Content, Node, read};

/// An answer is accepted exactly if it is a complete tool result that can be read in one way and keeps the tool's promise;
/// then its bytes are what the caller gets. Otherwise the call fails. Either way the tool does not run, one after-call event
/// says so, and asking again changes nothing.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(answer) = Json::parse(text) else { return };
    let text = answer.as_str();
    let node = read(text).expect("it is JSON");
    let valid = tool_result(&node, text);
    let is_error = node.get("isError").is_some_and(|flag| flag.text(text) == "true");
    let promised = is_error || node.get("structuredContent").is_some_and(|it| counts(it, text));
    for (tool, expected) in [(PLAIN, valid), (COUNTED, valid && promised)] {
        let params = Json::parse(&format!(r#"{{"name":"{tool}"}}"#)).expect("put together from JSON");
        let given = || {
            let seen = governed::call(&params, Verdict::Answer(answer.clone()));
            assert_eq!((seen.executed, seen.reports), (None, 1));
            seen.outcome
        };
        let outcome = given();
        match expected {
            true => assert_eq!(outcome, Outcome::Answered(answer.clone()), "{tool}"),
            false => assert_eq!(outcome, Outcome::Refused(Refusal::Internal), "{tool}"),
        }
        assert_eq!(given(), outcome, "a second time");
    }
}

fn tool_result(node: &Node, text: &str) -> bool {
    let unreadable =
        |it: &Node| matches!(it.content, Content::Number) && it.text(text).parse::<f64>().is_ok_and(f64::is_infinite);
    let optional = |key: &str, holds: &dyn Fn(&Node) -> bool| node.get(key).is_none_or(holds);
    callgate_core::json::scan(text).is_ok()
        && !node.any(&unreadable)
        && node.get("content").and_then(Node::elements).is_some_and(|blocks| blocks.iter().all(block))
        && optional("isError", &|flag| matches!(flag.text(text), "true" | "false"))
        && optional("_meta", &|meta| meta.members().is_some())
        && optional("resultType", &|kind| kind.string() == Some("complete"))
}

fn block(block: &Node) -> bool {
    let has = |node: &Node, keys: &[&str]| keys.iter().all(|key| node.get(key).and_then(Node::string).is_some());
    let resource = |resource: &Node| has(resource, &["uri", "text"]) || has(resource, &["uri", "blob"]);
    match block.get("type").and_then(Node::string) {
        None => false,
        Some("text") => has(block, &["text"]),
        Some("image" | "audio") => has(block, &["data", "mimeType"]),
        Some("resource_link") => has(block, &["uri", "name"]),
        Some("resource") => block.get("resource").is_some_and(resource),
        Some(_) => true,
    }
}

/// Whether the value keeps the promise of the tool that counts: an object whose `n` is a whole number.
fn counts(value: &Node, text: &str) -> bool {
    value.get("n").is_some_and(|n| {
        matches!(n.content, Content::Number) && n.text(text).parse::<f64>().is_ok_and(|number| number.fract() == 0.0)
    })
}
