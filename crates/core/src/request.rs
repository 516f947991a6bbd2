//! What a caller sent, read so that it never raises (N1 to N4), and what listeners are told of it.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::caller::Caller;
use crate::json::{Entry, Json, members, scan};
use crate::meta::{BoundedMeta, bound};
use crate::registry::Row;

/// A call as a front hands it over.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// Who calls; none when nobody is signed in.
    pub caller: Option<Arc<Caller>>,
    /// The `params` of the request, exactly as received, whatever they are.
    pub params: Json,
    /// Whether the request continues an earlier round.
    pub round: Round,
    /// What the front wants to find again in [`GrantedCall::wire`](crate::GrantedCall::wire), for example the raw request
    /// id. Governance never looks at it.
    pub wire: Option<Json>,
}

/// Whether a request begins a call or continues one that had asked its caller for input (W4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// A call of its own.
    First,
    /// A later round. It is decided anew, and never answered from a store.
    Continuation,
}

/// One call as listeners see it, the same from the first hook to the last. Immutable.
#[derive(Clone, Debug)]
pub struct ToolCallContext {
    /// Names this call and no other: 32 hex digits.
    pub id: String,
    /// Who calls.
    pub caller: Arc<Caller>,
    /// The row; none only where the gate failed (G5).
    pub row: Option<Arc<Row>>,
    /// The tool's name as the caller wrote it.
    pub identifier: String,
    /// The arguments: an object.
    pub arguments: Json,
    /// The bounded `_meta`.
    pub meta: BoundedMeta,
    /// Whether this continues an earlier round.
    pub round: Round,
    /// What the host adds.
    pub attributes: Arc<[Entry]>,
}

/// The parts of a request that governance reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Normalised {
    pub(crate) identifier: String,
    pub(crate) arguments: Json,
    pub(crate) meta: BoundedMeta,
}

/// Reads the `params` of a call. None where they hold no usable tool name (N1), which is also said of params that can be
/// read in two ways (N5); everything else that is not as it should be counts as empty (N2, N3).
pub(crate) fn normalise(params: &Json) -> Option<Normalised> {
    scan(params.as_str()).ok()?;
    let params = members(params.as_str())?;
    let identifier = params.get("name").and_then(tool_name)?;
    let object = |key| params.get(key).filter(|value| value.get().starts_with('{'));
    Some(Normalised {
        identifier,
        arguments: object("arguments").map_or_else(Json::empty_object, Json::from),
        meta: object("_meta").map(bound).unwrap_or_default(),
    })
}

/// The tool's name: a string that is not empty, or an integer read as its decimal string (N1).
fn tool_name(value: &RawValue) -> Option<String> {
    let text = value.get();
    if text.starts_with('"') {
        return serde_json::from_str(text).ok().filter(|name: &String| !name.is_empty());
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    integer.then(|| if text == "-0" { "0" } else { text }.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(value: &str) -> Option<String> {
        let params = Json::parse(&format!(r#"{{"name":{value}}}"#)).unwrap();
        normalise(&params).map(|normalised| normalised.identifier)
    }

    #[test]
    fn n1_a_name_is_a_string_or_an_integer() {
        for (value, expected) in [
            (r#""read""#, "read"),
            (r#"" ""#, " "),
            (r#""\u0072ead""#, "read"),
            ("7", "7"),
            ("-12", "-12"),
            ("-0", "0"),
            ("900719925474099300000", "900719925474099300000"),
        ] {
            assert_eq!(name(value).as_deref(), Some(expected), "{value}");
        }
    }

    #[test]
    fn n1_anything_else_is_no_name() {
        for value in ["\"\"", "null", "true", "1.0", "1e3", "-1.5", "[]", "{}", r#"["read"]"#, r#""\ud800""#] {
            assert_eq!(name(value), None, "{value}");
        }
        for params in ["null", "[]", "{}", "\"read\"", r#"{"Name":"read"}"#] {
            assert_eq!(normalise(&Json::parse(params).unwrap()), None, "{params}");
        }
    }

    #[test]
    fn n5_params_that_can_be_read_in_two_ways_hold_no_name() {
        for params in [
            r#"{"name":"read","name":"write"}"#,
            r#"{"name":"read","arguments":{"path":"a","path":"b"}}"#,
            r#"{"name":"read","arguments":{"path":"\ud800"}}"#,
        ] {
            assert_eq!(normalise(&Json::parse(params).unwrap()), None, "{params}");
        }
    }

    #[test]
    fn n2_n3_what_is_no_object_counts_as_empty() {
        for value in ["null", "1", "\"{}\"", "[{}]", "true"] {
            let params = format!(r#"{{"name":"read","arguments":{value},"_meta":{value}}}"#);
            let normalised = normalise(&Json::parse(&params).unwrap()).unwrap();
            assert_eq!(normalised.arguments, Json::empty_object());
            assert_eq!(normalised.meta, BoundedMeta::default());
        }
    }

    #[test]
    fn n4_arguments_and_meta_keep_their_spelling() {
        let params = Json::parse(r#"{"_meta": {"k": 1e2}, "arguments": {"b": 1.0, "a":[ ]}, "name":"read"}"#);
        let normalised = normalise(&params.unwrap()).unwrap();
        assert_eq!(normalised.arguments.as_str(), r#"{"b": 1.0, "a":[ ]}"#);
        assert_eq!(normalised.meta.get("k").unwrap().as_str(), "1e2");
    }
}
