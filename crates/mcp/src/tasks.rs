//! Tasks are taken out of the negotiation (W5): what nobody offers, nobody can use to run a call past its after event.

use std::borrow::Cow;

use callgate_core::Json;

use crate::edit;
use crate::era::CAPABILITIES_KEY;

/// The extension that has tasks in the modern era.
const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// Whether requests and notifications of that method are about tasks.
pub(crate) fn is_task_method(method: &str) -> bool {
    method.starts_with("tasks/") || method.starts_with("notifications/tasks")
}

/// A client's request that asks for no task and declares no support for them.
pub(crate) fn taken_out_of_request(line: &Json, method: &str) -> Json {
    let mut text = without_capability(line.as_str().into(), &["params", "_meta", CAPABILITIES_KEY]);
    if method == "initialize" {
        text = without_capability(text, &["params", "capabilities"]);
    }
    if method == "tools/call" {
        text = without(text, &["params", "task"]);
    }
    edited(line, text)
}

/// An upstream's answer to `initialize` or `server/discover` that offers no tasks.
pub(crate) fn taken_out_of_offer(line: &Json) -> Json {
    edited(line, without_capability(line.as_str().into(), &["result", "capabilities"]))
}

/// A tool's definition that does not say whether the tool can run as a task.
pub(crate) fn taken_out_of_definition(definition: &Json) -> Json {
    edited(definition, without(definition.as_str().into(), &["execution", "taskSupport"]))
}

fn without_capability<'a>(text: Cow<'a, str>, capabilities: &[&str]) -> Cow<'a, str> {
    let text = without(text, &[capabilities, &["tasks"]].concat());
    without(text, &[capabilities, &["extensions", EXTENSION]].concat())
}

fn without<'a>(text: Cow<'a, str>, path: &[&str]) -> Cow<'a, str> {
    if edit::find(&text, path).is_some() { edit::remove(&text, path).into() } else { text }
}

/// The edited text as a document; the document itself where nothing was edited.
fn edited(original: &Json, text: Cow<'_, str>) -> Json {
    match text {
        Cow::Borrowed(_) => original.clone(),
        Cow::Owned(text) => Json::parse(&text).unwrap_or_else(|_| original.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str, method: &str) -> String {
        taken_out_of_request(&Json::parse(text).unwrap(), method).to_string()
    }

    #[test]
    fn w5_a_call_asks_for_no_task() {
        assert_eq!(
            request(r#"{"id":1,"params":{"name":"a", "task":{"ttl":1}, "x":1.0}}"#, "tools/call"),
            r#"{"id":1,"params":{"name":"a", "x":1.0}}"#
        );
        let other = r#"{"id":1,"params":{"task":{"ttl":1}}}"#;
        assert_eq!(request(other, "resources/read"), other);
    }

    #[test]
    fn w5_neither_side_offers_tasks_in_the_handshake() {
        assert_eq!(
            request(r#"{"params":{"capabilities":{"tasks":{"list":{}},"roots":{}}}}"#, "initialize"),
            r#"{"params":{"capabilities":{"roots":{}}}}"#
        );
        let offer = Json::parse(
            r#"{"result":{"capabilities":{"tools":{}, "tasks":{}, "extensions":{"io.modelcontextprotocol/tasks":{},"x/y":{}}}}}"#,
        );
        assert_eq!(
            taken_out_of_offer(&offer.unwrap()).as_str(),
            r#"{"result":{"capabilities":{"tools":{}, "extensions":{"x/y":{}}}}}"#
        );
    }

    #[test]
    fn w5_a_modern_request_declares_no_support_for_tasks() {
        assert_eq!(
            request(
                r#"{"params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol\/tasks":{}}},"k":1}}}"#,
                "tools/list",
            ),
            r#"{"params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{}},"k":1}}}"#
        );
    }

    #[test]
    fn w5_a_definition_says_nothing_about_tasks() {
        let definition = Json::parse(r#"{"name":"a","execution":{"taskSupport":"required","x":1},"y":2}"#);
        assert_eq!(taken_out_of_definition(&definition.unwrap()).as_str(), r#"{"name":"a","execution":{"x":1},"y":2}"#);
    }

    #[test]
    fn w2_what_has_no_tasks_stays_as_it_is() {
        let line = r#"{ "id":1 , "params":{"_meta":{ } ,"name":"a"}}"#;
        assert_eq!(request(line, "tools/call"), line);
    }
}
