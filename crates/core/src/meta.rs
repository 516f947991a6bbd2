//! The caller's `_meta`, bounded before any listener sees it (N4).

use serde_json::value::RawValue;

use crate::json::{Entry, Json, compact, depth, members};

/// The longest key, in characters.
pub const MAX_KEY: usize = 256;
/// How many containers deep a value may nest.
pub const MAX_DEPTH: usize = 4;
/// The longest compact JSON text of a value, in characters.
pub const MAX_VALUE: usize = 4_096;
/// How many entries are kept.
pub const MAX_ENTRIES: usize = 32;

/// What the bounds left of a `_meta`: entries in document order, their values compact and otherwise spelled as the caller
/// wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoundedMeta {
    entries: Vec<Entry>,
    dropped: u32,
}

impl BoundedMeta {
    /// The entries that were kept.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many entries were dropped.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    /// The value under that key. The caller chose it, type included.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.entries.iter().find(|entry| entry.key == key).map(|entry| &entry.value)
    }
}

/// Bounds a `_meta` object.
pub(crate) fn bound(meta: &RawValue) -> BoundedMeta {
    let mut bounded = BoundedMeta::default();
    let Some(members) = members(meta.get()) else { return bounded };
    for (key, value) in members.iter() {
        match fitting(key, value) {
            Some(entry) if bounded.entries.len() < MAX_ENTRIES => bounded.entries.push(entry),
            _ => bounded.dropped = bounded.dropped.saturating_add(1),
        }
    }
    bounded
}

fn fitting(key: &str, value: &RawValue) -> Option<Entry> {
    if key.chars().count() > MAX_KEY || depth(value.get()) > MAX_DEPTH {
        return None;
    }
    let value = compact(value.get());
    let short = value.chars().count() <= MAX_VALUE;
    short.then(|| Json::parse(&value).ok()).flatten().map(|value| Entry { key: key.to_owned(), value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounded(meta: &str) -> BoundedMeta {
        bound(serde_json::from_str(meta).unwrap())
    }

    fn kept(meta: &str) -> (usize, u32) {
        let bounded = bounded(meta);
        (bounded.entries().len(), bounded.dropped())
    }

    #[test]
    fn n4_a_key_may_have_256_characters() {
        for (length, expected) in [(256, (1, 0)), (257, (0, 1))] {
            // A character of two bytes, so that counting bytes would show.
            assert_eq!(kept(&format!(r#"{{"{}":1}}"#, "é".repeat(length))), expected);
        }
    }

    #[test]
    fn n4_a_value_may_nest_four_containers_deep() {
        for (value, expected) in [
            ("1", (1, 0)),
            ("[[[[1]]]]", (1, 0)),
            (r#"{"a":[{"b":{}}]}"#, (1, 0)),
            ("[[[[[]]]]]", (0, 1)),
            (r#"[1,[2,[3,{"a":[]}]]]"#, (0, 1)),
        ] {
            assert_eq!(kept(&format!(r#"{{"k":{value}}}"#)), expected, "{value}");
        }
    }

    #[test]
    fn n4_a_value_may_have_4096_characters_of_compact_text() {
        for (length, expected) in [(4_094, (1, 0)), (4_095, (0, 1))] {
            // The quotes count as well; the space around the value does not.
            assert_eq!(kept(&format!(r#"{{"k":   "{}"   }}"#, "é".repeat(length))), expected);
        }
        let spaced = format!(r#"{{"k":[{}1]}}"#, "1 , ".repeat(2_000));
        assert_eq!(kept(&spaced), (1, 0));
    }

    #[test]
    fn n4_the_first_32_entries_that_fit_are_kept() {
        let deep = r#""deep":[[[[[]]]]]"#;
        let members: Vec<_> = (0..33).map(|n| format!(r#""k{n}":{n}"#)).collect();
        let bounded = bounded(&format!("{{{deep},{}}}", members.join(",")));
        assert_eq!(bounded.entries().len(), 32);
        assert_eq!(bounded.dropped(), 2);
        assert_eq!(bounded.entries()[0].key, "k0");
        assert!(bounded.get("k31").is_some() && bounded.get("k32").is_none());
    }

    #[test]
    fn n4_what_is_kept_is_compact_and_otherwise_as_written() {
        let bounded = bounded(r#"{"k": [ 1.0, 1e400 , 9007199254740993, "a  b" ]}"#);
        assert_eq!(bounded.get("k").unwrap().as_str(), r#"[1.0,1e400,9007199254740993,"a  b"]"#);
    }
}
