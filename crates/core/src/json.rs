//! JSON as text: kept the way its author spelled it, compared and passed on byte for byte.

mod members;
mod scan;

use std::fmt;
use std::sync::Arc;

use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

pub use members::{Members, elements, members};
pub use scan::{ScanError, compact, depth, scan};

/// One JSON document as text. Cheap to clone; members keep their order and numbers their digits.
// INVARIANT: the text is a valid JSON document without white space around it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

/// Why a text is no JSON document.
#[derive(Debug, thiserror::Error)]
#[error("not a JSON document")]
pub struct JsonError(#[from] serde_json::Error);

impl Json {
    /// Takes a text over if it is one JSON document. Duplicate keys are not looked for: see [`scan()`].
    ///
    /// # Errors
    /// When the text is not a JSON document.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let raw: &RawValue = serde_json::from_str(text)?;
        Ok(Self::from(raw))
    }

    /// `{}`.
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// A JSON string with this content.
    pub fn string(content: &str) -> Self {
        Self::from(serde_json::Value::from(content))
    }

    /// A content block of the protocol: `{"type":"text","text":…}`.
    pub(crate) fn text_block(text: &str) -> Self {
        Self::written(format!(r#"{{"type":"text","text":{}}}"#, Self::string(text)))
    }

    /// A text that this crate wrote as JSON.
    pub(crate) fn written(text: String) -> Self {
        debug_assert!(Self::parse(&text).is_ok(), "{text}");
        Self(text.into())
    }

    /// The document's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the document is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }

    /// SHA-256 of the text in lower-case hex.
    pub fn digest(&self) -> String {
        digest(self.0.as_bytes())
    }
}

/// SHA-256 in lower-case hex.
pub fn digest(bytes: &[u8]) -> String {
    use fmt::Write;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

impl From<&RawValue> for Json {
    fn from(raw: &RawValue) -> Self {
        Self(raw.get().into())
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self(value.to_string().into())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl serde::Serialize for Json {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error;
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

/// A named JSON value whose meaning the host does not interpret.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The member's name.
    pub key: String,
    /// Its value.
    pub value: Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_its_spelling_and_loses_the_space_around_it() {
        let json = Json::parse(" {\"b\": 1.0, \"a\":1e2} \n").unwrap();
        assert_eq!(json.as_str(), "{\"b\": 1.0, \"a\":1e2}");
        assert!(json.is_object());
        assert_eq!(serde_json::to_string(&json).unwrap(), json.as_str());
    }

    #[test]
    fn what_is_no_document_is_refused() {
        for text in ["", "{", "{} {}", "nul", "'a'"] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_digest_is_sha_256_in_hex() {
        assert_eq!(Json::empty_object().digest(), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
    }
}
