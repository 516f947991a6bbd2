//! Comparing JSON documents without losing digits.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

/// Deeper documents have no canonical form: every level is scanned again.
const MAX_DEPTH: usize = 64;

/// Why a document has no canonical form.
#[derive(Debug, thiserror::Error)]
pub enum CanonicalError {
    /// It is no JSON document, or names a member twice.
    #[error("not one JSON document: {0}")]
    NotJson(#[from] serde_json::Error),
    /// It nests too deeply.
    #[error("nested more than {MAX_DEPTH} deep")]
    TooDeep,
}

/// The same document with members in one order, no white space and one spelling of every string. Numbers stay as they are
/// spelled: `1`, `1.0` and `1e0` are three documents, so nothing is ever taken for equal that some reader tells apart.
///
/// # Errors
/// When the text is no JSON document, names a member twice, or nests more than 64 deep.
pub fn canonical(text: &str) -> Result<String, CanonicalError> {
    let mut out = String::with_capacity(text.len());
    write(serde_json::from_str(text)?, 0, &mut out)?;
    Ok(out)
}

/// SHA-256 of the text in lower-case hex.
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write(value: &RawValue, depth: usize, out: &mut String) -> Result<(), CanonicalError> {
    if depth > MAX_DEPTH {
        return Err(CanonicalError::TooDeep);
    }
    let text = value.get();
    match text.as_bytes().first() {
        Some(b'{') => {
            let Members(members) = serde_json::from_str(text)?;
            let mut separator = '{';
            for (name, value) in &members {
                out.push(separator);
                out.push_str(&serde_json::to_string(name)?);
                out.push(':');
                write(value, depth + 1, out)?;
                separator = ',';
            }
            out.push_str(if members.is_empty() { "{}" } else { "}" });
        }
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(text)?;
            let mut separator = '[';
            for value in &elements {
                out.push(separator);
                write(value, depth + 1, out)?;
                separator = ',';
            }
            out.push_str(if elements.is_empty() { "[]" } else { "]" });
        }
        Some(b'"') => out.push_str(&serde_json::to_string(&serde_json::from_str::<String>(text)?)?),
        _ => out.push_str(text),
    }
    Ok(())
}

/// The members of an object, by name. A map type of the library would let the last of two equal names win.
struct Members<'a>(BTreeMap<String, &'a RawValue>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, value)) = access.next_entry::<String, &RawValue>()? {
                    if members.insert(name, value).is_some() {
                        return Err(A::Error::custom("a member is named twice"));
                    }
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_white_space_and_escapes_do_not_count() {
        let one = canonical(" { \"b\" : [ 1 , {} , [] ] , \"a\" : \"\\u0041\\/\" } ").unwrap();
        assert_eq!(one, r#"{"a":"A/","b":[1,{},[]]}"#);
        assert_eq!(canonical(&one).unwrap(), one);
    }

    #[test]
    fn numbers_keep_their_digits() {
        for number in ["9007199254740993", "123456789012345678901234567890", "1.0", "1e400", "-0"] {
            assert_eq!(canonical(number).unwrap(), number);
        }
    }

    #[test]
    fn a_member_that_is_named_twice_has_no_canonical_form() {
        assert!(canonical(r#"{"a":1,"a":2}"#).is_err());
        assert!(canonical(r#"{"x":[{"a":1,"\u0061":2}]}"#).is_err());
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(canonical(&nested(MAX_DEPTH)).is_ok());
        assert!(matches!(canonical(&nested(100_000)), Err(CanonicalError::TooDeep)));
    }

    #[test]
    fn digests_are_sha_256_in_hex() {
        assert_eq!(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
