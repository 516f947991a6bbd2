//! Request ids, compared by what they mean and kept as they were spelled.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::LazyLock;

use callgate_core::Json;

/// How ids begin that the gateway itself gives to requests. Clients can't use them.
pub const OWN_PREFIX: &str = "callgate:";

/// What names this process among all that give such ids: a client may itself be a gateway, and its ids are its own.
// The hasher's keys come from the operating system.
static RUN: LazyLock<String> = LazyLock::new(|| format!("{:016x}", RandomState::new().build_hasher().finish()));

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
        let text = format!("{OWN_PREFIX}{}:{number}", *RUN);
        Self { raw: Json::string(&text), key: Key::Text(text) }
    }

    /// Whether the id is one of those that only this gateway gives: all that begin as its own do, but for those of another
    /// process.
    pub fn is_own(&self) -> bool {
        let Key::Text(text) = &self.key else { return false };
        let Some(rest) = text.strip_prefix(OWN_PREFIX) else { return false };
        let another = |run: &str| run.len() == RUN.len() && run.bytes().all(|it| it.is_ascii_hexdigit()) && run != *RUN;
        !rest.split_once(':').is_some_and(|(run, _)| another(run))
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

    #[test]
    fn a_client_that_is_a_gateway_itself_keeps_its_ids() {
        assert!(!Id::read(r#""callgate:0123456789abcdef:7""#).unwrap().is_own());
        assert!(Id::read(r#""callgate:0123456789abcdef""#).unwrap().is_own());
        assert!(Id::read(r#""callgate:0123456789abcdeg:7""#).unwrap().is_own());
        assert_ne!(Id::own(7), Id::own(8));
    }
}
