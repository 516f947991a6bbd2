//! The host's reading of JSON text: what it accepts, what it finds ambiguous, and the members it sees.

use callgate_core::Json;
use callgate_core::json::{ScanError, compact, depth, elements, members, scan};
use serde_json::Value;

use crate::reading::{Content, Node, read};

/// A text is accepted exactly if the grammar says so, faults are told by kind and in document order, members and elements
/// are slices of the text, and whatever a parser into values makes of it is the same document.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let parsed = Json::parse(text).ok();
    let Some(node) = read(text) else {
        assert_eq!(parsed, None, "accepted");
        assert_eq!(scan(text), Err(ScanError::Syntax));
        assert!(members(text).is_none() && elements(text).is_none());
        assert!(serde_json::from_str::<Value>(text).is_err());
        return;
    };
    assert_eq!(parsed.expect("the grammar accepts it").as_str(), node.text(text));
    let fault = node.fault();
    assert_eq!(scan(text).err(), fault);

    assert_eq!(depth(text), node.depth());
    let short = compact(text);
    assert_eq!(short, node.compact(text));
    assert_eq!(compact(&short), short);
    assert_eq!(scan(&short).err(), fault, "of the compact text");

    members_are_the_texts(text, &node);
    if !node.any(&reserved) {
        values_are_the_same(text, &node);
    }
}

fn members_are_the_texts(text: &str, node: &Node) {
    let expected = node.members().and_then(|members| {
        members.iter().map(|it| Some((it.name()?.to_owned(), it.value.text(text)))).collect::<Option<Vec<_>>>()
    });
    let found = members(text);
    let listed = found.as_ref().map(|it| it.iter().map(|(key, value)| (key.to_owned(), value.get())).collect());
    assert_eq!(listed, expected);
    for (key, _) in expected.iter().flatten() {
        let last = found.as_ref().and_then(|found| found.get(key)).map(|value| value.get());
        assert_eq!(last, node.get(key).map(|value| value.text(text)), "{key}");
    }
    let expected = node.elements().map(|elements| elements.iter().map(|it| it.text(text)).collect::<Vec<_>>());
    assert_eq!(elements(text).map(|it| it.iter().map(|value| value.get()).collect()), expected);
}

fn values_are_the_same(text: &str, node: &Node) {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => assert!(same(&value, node, text), "{value}"),
        // What a value can not hold, and the text can.
        Err(error) => {
            let unreadable = |it: &Node| matches!(it.content, Content::String(None)) || out_of_range(it, text);
            assert!(node.depth() > 100 || node.any(&unreadable), "{error}");
        }
    }
}

fn out_of_range(node: &Node, text: &str) -> bool {
    matches!(node.content, Content::Number) && node.text(text).parse::<f64>().is_ok_and(f64::is_infinite)
}

/// Whether the value is the last-wins reading of that text.
pub(crate) fn same(value: &Value, node: &Node, text: &str) -> bool {
    match (value, &node.content) {
        (Value::Null, Content::Word) => node.text(text) == "null",
        (Value::Bool(flag), Content::Word) => node.text(text) == if *flag { "true" } else { "false" },
        (Value::Number(number), Content::Number) => number.as_f64() == node.text(text).parse().ok(),
        (Value::String(content), Content::String(expected)) => Some(content) == expected.as_ref(),
        (Value::Array(values), Content::Array(elements)) => {
            values.len() == elements.len() && values.iter().zip(elements).all(|(value, it)| same(value, it, text))
        }
        (Value::Object(map), Content::Object(members)) => {
            members.iter().all(|member| member.name().is_some_and(|name| map.contains_key(name)))
                && map.iter().all(|(key, value)| node.get(key).is_some_and(|it| same(value, it, text)))
        }
        _ => false,
    }
}

/// Whether serde_json takes the object for something else.
fn reserved(node: &Node) -> bool {
    node.members().is_some_and(|members| {
        members.iter().any(|it| it.name().is_some_and(|name| name.starts_with("$serde_json::private::")))
    })
}
