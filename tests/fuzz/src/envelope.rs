//! Lines of clients and upstreams, and the edits of them (N5, W2, W3).

mod edits;

use callgate_core::{Json, Outcome, Refusal, Verdict};
use callgate_mcp::envelope::{Message, Payload, Rejection, params, read_client, read_upstream};
use serde_json::Value;

use crate::governed;
use crate::reading::{Content, Member, Node, read};

/// Keys that a lenient parser must not find under another spelling.
const KNOWN: [&str; 10] =
    ["jsonrpc", "id", "method", "params", "name", "arguments", "_meta", "task", "requestState", "inputResponses"];

/// A line of a client is refused with an error that names nobody else's request, or is one message: the bytes that came, and
/// the same message for every parser, whether it takes the first or the last of two keys and however it folds their case.
/// What governance judges by is then what everyone reads. Edits change what they say and no other byte.
pub(crate) fn check(line: &[u8]) {
    match read_client(line) {
        Err(rejection) => refused(&rejection, line),
        Ok(message) => passed(&message, line),
    }
    upstream(line);
    if let Some((text, node)) = document(line) {
        edits::check(text, &node);
    }
}

/// The JSON document in the line, without the space around it.
fn document(line: &[u8]) -> Option<(&str, Node)> {
    let text = std::str::from_utf8(line).ok()?.trim_matches([' ', '\t', '\n', '\r']);
    Some((text, read(text)?))
}

fn refused(rejection: &Rejection, line: &[u8]) {
    let response = rejection.response();
    assert_eq!(callgate_core::json::scan(response.as_str()), Ok(()));
    assert!(!response.as_str().contains(['\n', '\r']));
    let value: Value = serde_json::from_str(response.as_str()).unwrap();
    assert_eq!(value["jsonrpc"], "2.0");
    assert_eq!(value["error"]["code"], rejection.code);
    assert_eq!(value["error"]["message"], rejection.message);
    match &rejection.id {
        None => assert_eq!(value["id"], Value::Null),
        // Whoever reads the request finds this id, or the error would pass for the answer to another one.
        Some(id) => {
            let (text, node) = document(line).expect("an id was read");
            let ids: Vec<_> = named(&node, "id").map(|member| member.value.text(text)).collect();
            assert_eq!(ids, [id.raw().as_str()]);
            assert!(!id.is_own());
        }
    }
}

fn passed(message: &Message, line: &[u8]) {
    let (text, node) = document(line).expect("a message is JSON");
    let (own_line, id, method) = parts(message);
    assert_eq!(own_line.as_str(), text, "byte for byte");
    assert_eq!(node.fault(), None);
    let again = read_client(own_line.as_str().as_bytes()).expect("its own line is the same message");
    assert_eq!(parts(&again), (own_line, id.clone(), method));

    let only = |node: &Node, key: &str| {
        let members: Vec<_> = lookalikes(node, key).collect();
        assert!(members.len() <= 1 && members.iter().all(|it| it.name() == Some(key)), "{key}");
        members.first().map(|member| member.value.clone())
    };
    KNOWN.iter().for_each(|key| drop(only(&node, key)));
    assert_eq!(only(&node, "method").as_ref().and_then(Node::string), method);
    assert_eq!(only(&node, "id").map(|it| it.text(text).to_owned()), id);
    let Some(method) = method else { return };
    let parameters = only(&node, "params");
    assert_eq!(params(own_line), parameters.as_ref().map(|it| it.text(text)));
    if let Some(parameters) = &parameters {
        KNOWN.iter().for_each(|key| drop(only(parameters, key)));
        if method == "tools/call" {
            judged(parameters, text);
        }
    }
    edits::of_tasks(own_line, text, &node, method);
}

/// The tool and the arguments that governance judges are those that every other reader finds.
fn judged(parameters: &Node, text: &str) {
    let seen = governed::call(&Json::parse(parameters.text(text)).unwrap(), Verdict::Proceed);
    let judged = match (&seen.outcome, &seen.context) {
        (Outcome::Refused(Refusal::UnknownTool(name)), _) => Some(name.clone()),
        (Outcome::Refused(Refusal::ToolNameRequired), _) => None,
        (Outcome::Executed(_), Some(context)) => {
            let sent = parameters.get("arguments").filter(|it| it.members().is_some());
            assert_eq!(context.arguments.as_str(), sent.map_or("{}", |it| it.text(text)));
            assert_eq!(seen.executed.as_ref().map(Json::as_str), Some(parameters.text(text)));
            Some(context.identifier.clone())
        }
        other => panic!("{other:?}"),
    };
    let name = parameters.get("name").and_then(|name| match &name.content {
        Content::String(content) => content.clone().filter(|it| !it.is_empty()),
        Content::Number if name.text(text) == "-0" => Some("0".into()),
        Content::Number => Some(name.text(text).to_owned()).filter(|it| !it.contains(['.', 'e', 'E'])),
        _ => None,
    });
    assert_eq!(judged, name);
    if let (Ok(value), Some(name)) = (serde_json::from_str::<Value>(parameters.text(text)), &name)
        && let Some(string) = value["name"].as_str()
    {
        assert_eq!(string, name, "a parser into values");
    }
}

fn upstream(line: &[u8]) {
    let read = read_upstream(line);
    let Some((text, node)) = document(line) else { return assert!(read.is_none()) };
    let Some(message) = read else {
        let usual = node.fault().is_none() && node.get("id").is_some_and(|id| id.text(text) == "1");
        let response = node.get("result").is_some() && node.get("error").is_none() && node.get("method").is_none();
        return assert!(!(usual && response), "a response is lost");
    };
    let (own_line, id, method) = parts(&message);
    assert_eq!(own_line.as_str(), text, "byte for byte");
    for key in ["id", "method", "result", "error"] {
        assert!(named(&node, key).count() <= 1, "{key}");
    }
    assert_eq!(node.get("method").and_then(Node::string), method);
    assert_eq!(node.get("id").map(|it| it.text(text).to_owned()), id);
    if let Message::Response(response) = &message {
        let (key, payload) = match &response.payload {
            Payload::Result(result) => ("result", result),
            Payload::Error(error) => ("error", error),
        };
        assert_eq!(node.get(key).map(|it| it.text(text)), Some(payload.as_str()));
    }
}

/// Line, id as it was spelled, and method.
fn parts(message: &Message) -> (&Json, Option<String>, Option<&str>) {
    match message {
        Message::Request(it) => (&it.line, Some(it.id.raw().to_string()), Some(&it.method)),
        Message::Notification(it) => (&it.line, None, Some(&it.method)),
        Message::Response(it) => (&it.line, Some(it.id.raw().to_string()), None),
    }
}

fn named<'n>(node: &'n Node, key: &str) -> impl Iterator<Item = &'n Member> {
    node.members().unwrap_or_default().iter().filter(move |member| member.name() == Some(key))
}

/// The members that some parser takes for that key: one that looks at the upper case, or at the lower case, of each character.
fn lookalikes<'n>(node: &'n Node, key: &str) -> impl Iterator<Item = &'n Member> {
    node.members().unwrap_or_default().iter().filter(move |member| {
        member.name().is_some_and(|name| {
            name.chars().count() == key.chars().count() && name.chars().zip(key.chars()).all(|(a, b)| alike(a, b))
        })
    })
}

fn alike(one: char, other: char) -> bool {
    // One character for one, as parsers have it that compare texts of equal length.
    let single = |character: char, mapped: &mut dyn Iterator<Item = char>| match (mapped.next(), mapped.next()) {
        (Some(mapped), None) => mapped,
        _ => character,
    };
    let upper = |it: char| single(it, &mut it.to_uppercase());
    // The lower case of the dotted capital has two characters here and one elsewhere.
    let lower = |it: char| if it == '\u{130}' { 'i' } else { single(it, &mut it.to_lowercase()) };
    upper(one) == upper(other) || lower(one) == lower(other)
}
