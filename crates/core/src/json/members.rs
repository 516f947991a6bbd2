//! The members of an object and the elements of an array, each value left as text.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object in document order, duplicates included. Each value is a slice of the object's text.
#[derive(Debug)]
pub struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

/// The members of `text`, or none where it is not an object or a key is not Unicode (a lone surrogate).
pub fn members(text: &str) -> Option<Members<'_>> {
    serde_json::from_str(text).ok()
}

/// The elements of `text`, or none where it is not an array.
pub fn elements(text: &str) -> Option<Vec<&RawValue>> {
    serde_json::from_str(text).ok()
}

impl<'a> Members<'a> {
    /// The value under that key: the last one, as most parsers have it, where the key stands twice.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| *value)
    }

    /// Keys and values in document order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), *value))
    }
}

/// A key that borrows from the text where it holds no escape.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Object).map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_slices_of_the_text() {
        let text = r#"{ "\u0061" : 1.0 , "b":{"c": [1 ,2]}}"#;
        let members = members(text).unwrap();
        assert_eq!(members.get("a").unwrap().get(), "1.0");
        let b = members.get("b").unwrap().get();
        assert_eq!(b, r#"{"c": [1 ,2]}"#);
        assert!(text.as_bytes().as_ptr_range().contains(&b.as_ptr()));
        assert!(members.get("c").is_none());
    }

    #[test]
    fn only_objects_have_members_and_only_arrays_elements() {
        assert!(members("[1]").is_none());
        assert!(members(r#"{"\ud800":1}"#).is_none());
        assert_eq!(elements("[1, {}]").unwrap().len(), 2);
        assert!(elements("{}").is_none());
    }

    #[test]
    fn the_last_of_two_equal_keys_counts() {
        assert_eq!(members(r#"{"a":1,"a":2}"#).unwrap().get("a").unwrap().get(), "2");
    }
}
