//! Which tools of a server play which part, and with which arguments.

use anyhow::{Context, Result, bail};
use callgate_mcp::{Client, Command, Transport};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The tools of the session.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cast {
    /// All names, in the server's order.
    pub(super) all: Vec<String>,
    /// What the reader keeps, as names or patterns.
    pub(super) reader: Vec<String>,
    /// Runs once for each idempotency key.
    pub(super) counted: Part,
    /// Needs an approval, and is hidden from the reader.
    pub(super) guarded: Part,
    /// Shows what `counted` did; none where no tool is known to.
    pub(super) witness: Option<Part>,
    /// Reaches what others hide.
    pub(super) generic: Option<String>,
}

/// A tool and what it is called with.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

/// What is read of a tool's definition to cast it. Only hints: nothing is decided by them but what a demonstration calls.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Definition {
    name: String,
    #[serde(default)]
    input_schema: Value,
    #[serde(default)]
    annotations: Annotations,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    read_only_hint: Option<bool>,
    destructive_hint: Option<bool>,
}

/// What the name of a tool that changes something often has in it.
const CHANGES: [&str; 11] =
    ["delete", "remove", "write", "edit", "create", "update", "send", "move", "drop", "commit", "set"];

impl Cast {
    /// The demonstration's own server.
    pub(super) fn of_own_server() -> Self {
        let part = |tool: &str, arguments| Part { tool: tool.into(), arguments };
        Self {
            all: ["list_rewards", "add_reward", "delete_reward", "fetch_url"].map(String::from).into(),
            reader: vec!["list_*".into()],
            counted: part("add_reward", json!({ "title": "Cinema ticket" })),
            guarded: part("delete_reward", json!({ "idReward": 1 })),
            witness: Some(part("list_rewards", json!({}))),
            generic: Some("fetch_url".into()),
        }
    }

    /// Looks at a server and chooses among its tools.
    pub(super) async fn of(command: &[String]) -> Result<Self> {
        let (program, arguments) = command.split_first().context("the command is empty")?;
        let command = Command { program: program.clone(), arguments: arguments.to_vec(), ..Command::default() };
        let client = Client::open("upstream", Transport::Child(command)).await?;
        let listed = client.list_tools().await;
        client.close().await;
        let definitions = listed?.iter().map(|definition| serde_json::from_str(definition.as_str())).collect();
        Self::among(definitions)
    }

    fn among(definitions: Result<Vec<Definition>, serde_json::Error>) -> Result<Self> {
        let definitions = definitions.context("a tool's definition can not be read")?;
        // It is somebody's real server, so only what seems harmless is called, in the server's own order.
        let harmless = |wanted| definitions.iter().filter(move |it| danger(it) == wanted);
        let mut parts = harmless(Danger::ReadsOnly).chain(harmless(Danger::Unknown));
        let (Some(counted), Some(guarded)) = (parts.next(), parts.next()) else {
            bail!("the demonstration needs a server with at least two tools that seem harmless to call");
        };
        Ok(Self {
            all: definitions.iter().map(|it| it.name.clone()).collect(),
            reader: vec![counted.name.clone()],
            counted: Part { tool: counted.name.clone(), arguments: arguments(&counted.input_schema) },
            guarded: Part { tool: guarded.name.clone(), arguments: arguments(&guarded.input_schema) },
            witness: None,
            generic: None,
        })
    }
}

/// What a call of a tool may do, as far as can be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Danger {
    ReadsOnly,
    Unknown,
    Changes,
}

fn danger(definition: &Definition) -> Danger {
    let name = definition.name.to_lowercase();
    match (definition.annotations.read_only_hint, definition.annotations.destructive_hint) {
        (Some(true), _) => Danger::ReadsOnly,
        (_, Some(true)) => Danger::Changes,
        _ if CHANGES.iter().any(|word| name.contains(word)) => Danger::Changes,
        _ => Danger::Unknown,
    }
}

fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Something for every argument that has to be sent.
fn arguments(schema: &Value) -> Value {
    let property = |name: &str| schema.get("properties").and_then(|it| it.get(name)).unwrap_or(&Value::Null);
    required(schema).into_iter().map(|name| (name.to_owned(), example(property(name)))).collect::<Map<_, _>>().into()
}

fn example(schema: &Value) -> Value {
    let first = |key: &str| schema.get(key).and_then(|it| it.get(0)).cloned();
    let given = schema.get("const").or_else(|| schema.get("default")).cloned().or_else(|| first("enum"));
    let number = || schema.get("minimum").cloned().unwrap_or_else(|| 1.into());
    given.or_else(|| first("examples")).unwrap_or_else(|| match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => number(),
        Some("boolean") => false.into(),
        Some("array") => json!([]),
        Some("object") => arguments(schema),
        _ => "callgate".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(definitions: Value) -> Result<Cast> {
        Cast::among(serde_json::from_value(definitions))
    }

    #[test]
    fn only_what_seems_harmless_is_called() {
        let cast = cast(json!([
            { "name": "create_note", "inputSchema": {} },
            { "name": "search", "inputSchema": { "required": ["q"], "properties": { "q": { "type": "string" } } } },
            { "name": "wipe", "annotations": { "destructiveHint": true } },
            { "name": "now", "annotations": { "readOnlyHint": true, "destructiveHint": true } },
        ]));
        let cast = cast.unwrap();
        assert_eq!((cast.counted.tool.as_str(), cast.guarded.tool.as_str()), ("now", "search"));
        assert_eq!((cast.reader, cast.all.len()), (vec!["now".to_owned()], 4));
    }

    #[test]
    fn every_required_argument_gets_a_value_of_its_type() {
        let schema = json!({
            "required": ["s", "n", "b", "a", "o", "e", "d"],
            "properties": {
                "s": { "type": "string" }, "n": { "type": "integer", "minimum": 3 }, "b": { "type": "boolean" },
                "a": { "type": "array" }, "e": { "enum": ["x", "y"] }, "d": { "default": 7 }, "left out": {},
                "o": { "type": "object", "required": ["in"], "properties": { "in": { "type": "number" } } },
            },
        });
        let expected = json!({ "s": "callgate", "n": 3, "b": false, "a": [], "o": { "in": 1 }, "e": "x", "d": 7 });
        assert_eq!(arguments(&schema), expected);
        assert_eq!(arguments(&Value::Null), json!({}));
    }

    #[test]
    fn one_harmless_tool_is_too_few() {
        let error = cast(json!([{ "name": "one" }, { "name": "drop_table" }])).unwrap_err();
        assert!(error.to_string().contains("at least two tools"));
    }
}
