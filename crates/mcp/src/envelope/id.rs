//! Request ids, compared by what they mean and kept as they were spelled.

use std::fmt;
use std::hash::{Hash, Hasher};

use callgate_core::Json;

/// How ids begin that the gateway itself gives to requests. Clients can't use them.
pub const OWN_PREFIX: &str = "callgate:";

/// A request id: a string or an integer. `1` and `"1"` are two ids; `"a"` and `"\u0061"` are one.
#[derive(Clone)]
pub struct Id {
    raw: Json,
    key: Key,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Text(String),
    Number(String),
}

impl Id {
    /// The id with that JSON text, unless it is neither a string nor an integer.
    pub fn read(text: &str) -> Option<Self> {
        let key = if text.starts_with('"') {
            Key::Text(serde_json::from_str(text).ok()?)
        } else {
            let digits = text.strip_prefix('-').unwrap_or(text);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            Key::Number(if digits == "0" { digits } else { text }.to_owned())
        };
        Json::parse(text).ok().map(|raw| Self { raw, key })
    }

    /// An id for a request of the gateway's own.
    pub fn own(number: u64) -> Self {
        let text = format!("{OWN_PREFIX}{number}");
        Self { raw: Json::string(&text), key: Key::Text(text) }
    }

    /// Whether the id is one of those that only the gateway gives.
    pub fn is_own(&self) -> bool {
        matches!(&self.key, Key::Text(text) if text.starts_with(OWN_PREFIX))
    }

    /// The id as it was spelled.
    pub fn raw(&self) -> &Json {
        &self.raw
    }
}

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Id {}

impl Hash for Id {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_compared_by_what_they_mean() {
        let id = |text| Id::read(text).unwrap();
        assert_eq!(id(r#""a""#), id(r#""\u0061""#));
        assert_eq!(id("-0"), id("0"));
        assert_ne!(id("1"), id("\"1\""));
        assert_eq!(id(r#""\u0061""#).raw().as_str(), r#""\u0061""#);
    }

    #[test]
    fn w3_what_is_neither_a_string_nor_an_integer_is_no_id() {
        for text in ["null", "1.0", "1e2", "true", "[]", "{}", "-", "", r#""\ud800""#] {
            assert!(Id::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_gateways_own_ids_are_known_in_every_spelling() {
        assert!(Id::own(7).is_own());
        assert!(Id::read(r#""\u0063allgate:7""#).unwrap().is_own());
        assert!(!Id::read(r#""callgate""#).unwrap().is_own());
    }
}
