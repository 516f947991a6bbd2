//! What a native tool's function is called with (E1, E2).

use callgate_core::Json;
use callgate_core::binding::{Argument, ArgumentType, BindingError, BoundArguments, Parameter, Presence, bind};
use serde_json::Value;

use crate::json::same;
use crate::reading::{Content, Node, read};

/// The input is an object: `declared` has `[name, type, presence]` for each argument, where the presence is `"required"`,
/// `"optional"` or `{"default": value}`; `parameters` has `[name, type]`; `sent` is what a caller sent.
///
/// The first fault is told, in its exact words. Without one, each declared argument that was sent, or has a default, is
/// bound to that very value and nothing else is.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Some(node) = read(text).filter(|_| callgate_core::json::scan(text).is_ok()) else { return };
    let Some(case) = Case::read(&node, text) else { return };
    let bound = bind(&case.declared, &case.parameters(), &case.sent);
    assert_eq!(bind(&case.declared, &case.parameters(), &case.sent), bound, "a second time");
    match (&bound, case.fault()) {
        (Ok(bound), None) => case.values_are_what_was_sent(bound),
        (Err(error), Some(fault)) => {
            assert_eq!(*error, fault);
            assert_eq!(error.to_string(), words(error));
        }
        (_, fault) => panic!("{bound:?} where {fault:?} was expected"),
    }
}

struct Case {
    declared: Vec<Argument>,
    taken: Vec<(String, ArgumentType)>,
    sent: Json,
    sent_node: Node,
}

impl Case {
    fn read(node: &Node, text: &str) -> Option<Self> {
        let mut declared: Vec<Argument> = Vec::new();
        for entry in node.get("declared")?.elements()? {
            let [name, kind, presence] = entry.elements()? else { return None };
            let presence = match presence.string() {
                Some("required") => Presence::Required,
                Some("optional") => Presence::Optional,
                Some(_) => return None,
                None => Presence::Default(serde_json::from_str(presence.get("default")?.text(text)).ok()?),
            };
            let name = name.string()?.to_owned();
            // A row that declares one name twice is a fault of the host project.
            if declared.iter().any(|argument| argument.name == name) {
                return None;
            }
            declared.push(Argument { name, argument_type: argument_type(kind.string()?), presence });
        }
        let mut taken = Vec::new();
        for entry in node.get("parameters")?.elements()? {
            let [name, kind] = entry.elements()? else { return None };
            taken.push((name.string()?.to_owned(), argument_type(kind.string()?)));
        }
        let sent = Json::parse(node.get("sent")?.text(text)).ok()?;
        let sent_node = read(sent.as_str())?;
        Some(Self { declared, taken, sent, sent_node })
    }

    fn parameters(&self) -> Vec<Parameter> {
        self.taken.iter().map(|(name, kind)| Parameter::new(name, kind.clone())).collect()
    }

    /// The fault that has to be told, by the order that `bind` promises.
    fn fault(&self) -> Option<BindingError> {
        let sent = |argument: &Argument| self.sent_node.get(&argument.name);
        let given = |it: &&Argument| sent(it).is_some() || matches!(it.presence, Presence::Default(_));
        let taken = |argument: &Argument| self.taken.iter().find(|(name, _)| *name == argument.name);
        let unknown = self.declared.iter().filter(given).find(|it| taken(it).is_none());
        if let Some(argument) = unknown {
            return Some(BindingError::Unknown(argument.name.clone()));
        }
        let missing = self.declared.iter().find(|it| it.presence == Presence::Required && sent(it).is_none());
        if let Some(argument) = missing {
            return Some(BindingError::Missing(argument.name.clone()));
        }
        let unfit = |argument: &&Argument| {
            let kinds = [&argument.argument_type, &taken(argument).unwrap().1];
            !kinds.into_iter().all(|kind| match (sent(argument), &argument.presence) {
                (Some(node), _) => admits(kind, node, self.sent.as_str()),
                (None, Presence::Default(value)) => {
                    let text = value.to_string();
                    admits(kind, &read(&text).unwrap(), &text)
                }
                (None, _) => true,
            })
        };
        let argument = self.declared.iter().filter(given).find(unfit)?;
        Some(BindingError::invalid(&argument.name, &argument.argument_type))
    }

    fn values_are_what_was_sent(&self, bound: &BoundArguments) {
        for argument in &self.declared {
            let value = bound.value(&argument.name);
            match (self.sent_node.get(&argument.name), &argument.presence) {
                (Some(node), _) => {
                    let value = value.expect("what was sent is bound");
                    let whole = argument.argument_type == ArgumentType::Int;
                    let text = self.sent.as_str();
                    assert!(whole || same(value, node, text), "{value} for {}", node.text(text));
                    assert!(!whole || value.as_i64() == integer(node.text(text)), "{value} for {}", node.text(text));
                }
                (None, Presence::Default(default)) if argument.argument_type == ArgumentType::Int => {
                    assert_eq!(value.and_then(Value::as_i64), integer(&default.to_string()));
                }
                (None, Presence::Default(default)) => assert_eq!(value, Some(default)),
                (None, _) => assert_eq!(value, None, "nobody sent it"),
            }
        }
        let undeclared = |name: &&str| !self.declared.iter().any(|argument| argument.name == **name);
        for member in self.sent_node.members().unwrap_or_default() {
            for name in member.name().iter().filter(|it| undeclared(it)) {
                assert_eq!(bound.value(name), None, "not declared (E2)");
            }
        }
    }
}

fn argument_type(name: &str) -> ArgumentType {
    match name {
        "string" => ArgumentType::String,
        "int" => ArgumentType::Int,
        "float" => ArgumentType::Float,
        "bool" => ArgumentType::Bool,
        "array" => ArgumentType::Array,
        "object" => ArgumentType::Object,
        "mixed" => ArgumentType::Any,
        internal => ArgumentType::Internal(internal.to_owned()),
    }
}

fn admits(kind: &ArgumentType, node: &Node, text: &str) -> bool {
    let infinite =
        |it: &Node| matches!(it.content, Content::Number) && it.text(text).parse::<f64>().is_ok_and(f64::is_infinite);
    // A number that no type can hold makes the value unreadable.
    if node.any(&infinite) {
        return false;
    }
    match (kind, &node.content) {
        (ArgumentType::Any | ArgumentType::Internal(_), _)
        | (ArgumentType::String, Content::String(_))
        | (ArgumentType::Float, Content::Number)
        | (ArgumentType::Array, Content::Array(_))
        | (ArgumentType::Object, Content::Object(_)) => true,
        (ArgumentType::Bool, Content::Word) => node.text(text) != "null",
        (ArgumentType::Int, Content::Number) => integer(node.text(text)).is_some(),
        _ => false,
    }
}

/// The whole number of 64 bits that a number's spelling stands for, found in decimal. A spelling with a fraction or an
/// exponent counts where a float holds the number exactly and no other whole number besides.
fn integer(spelling: &str) -> Option<i64> {
    if spelling.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
        // Minus zero is zero.
        return spelling.parse().ok();
    }
    let float: f64 = spelling.parse().ok()?;
    let whole = format!("{float:.0}").parse::<i64>().ok()?;
    (float.fract() == 0.0 && whole.unsigned_abs() < 1 << 53).then_some(whole)
}

/// Table E, to the character.
fn words(error: &BindingError) -> String {
    match error {
        BindingError::Missing(name) => format!("Missing required argument '{name}'."),
        BindingError::Unknown(name) => format!("Unknown argument '{name}'."),
        BindingError::Invalid { name, expected: None } => format!("Invalid value for argument '{name}'."),
        BindingError::Invalid { name, expected: Some(kind) } => {
            format!("Invalid value for argument '{name}': expected {kind}.")
        }
    }
}
