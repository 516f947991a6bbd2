//! Looking things up in a call.

use serde::de::DeserializeOwned;

use crate::{Entry, Payload, ToolCall, json};

/// A `_meta` value or an attribute is there and is not what was expected. The client chooses the values in `_meta`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` is not of the expected type: {detail}")]
pub struct MetaError {
    /// The key that was looked up.
    pub key: String,
    /// What did not fit.
    pub detail: String,
}

impl From<MetaError> for String {
    fn from(error: MetaError) -> Self {
        error.to_string()
    }
}

impl ToolCall {
    /// The value under that key of the request's `_meta`, none if there is no such key.
    ///
    /// ```
    /// # let call = callgate_guest::testing::call("files__read", "{}").with_meta("ticket", "\"a1\"");
    /// let ticket: Option<String> = call.meta("ticket")?;
    /// assert_eq!(ticket.as_deref(), Some("a1"));
    /// # Ok::<(), callgate_guest::MetaError>(())
    /// ```
    ///
    /// # Errors
    /// When the value is of another type, `null` included: whoever sent it may count on a protection that it names.
    pub fn meta<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, MetaError> {
        value(&self.meta, key)
    }

    /// The value of an attribute that the host added, none if there is no such key.
    ///
    /// # Errors
    /// When the value is of another type.
    pub fn attribute<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, MetaError> {
        value(&self.attributes, key)
    }

    /// Names the run of the host process that asks: another one after every start. A call that was begun under another run
    /// and has no recorded end was cut off. Empty where the host does not tell.
    pub fn host_run(&self) -> String {
        self.attribute("callgate/host-run").ok().flatten().unwrap_or_default()
    }
}

fn value<T: DeserializeOwned>(entries: &[Entry], key: &str) -> Result<Option<T>, MetaError> {
    let Some(entry) = entries.iter().find(|entry| entry.key == key) else {
        return Ok(None);
    };
    match serde_json::from_str(&entry.value) {
        Ok(value) => Ok(Some(value)),
        Err(error) => Err(MetaError { key: key.to_owned(), detail: error.to_string() }),
    }
}

impl Payload {
    /// The JSON text; none where it was over the size that this listener may be handed.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Oversize(_) => None,
        }
    }

    /// SHA-256 in lower-case hex that is equal for equal documents: over the canonical form, so that neither the order of
    /// members nor white space counts ([`json::canonical`]). Where that cannot be had, because the document is oversize or
    /// nested too deeply, over the text as it was sent.
    pub fn digest(&self) -> String {
        match self {
            Self::Text(text) => json::digest(&json::canonical(text).unwrap_or_else(|_| text.clone())),
            Self::Oversize(oversize) => oversize.digest.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Oversize;
    use crate::testing::call;

    #[test]
    fn n4_meta_is_looked_up_with_its_type() {
        let call = call("t", "{}").with_meta("key", "\"k\"").with_meta("number", "7").with_meta("nothing", "null");
        assert_eq!(call.meta::<String>("key"), Ok(Some("k".to_owned())));
        assert_eq!(call.meta::<String>("absent"), Ok(None));
        assert_eq!(call.meta::<u32>("number"), Ok(Some(7)));
        for key in ["number", "nothing"] {
            assert_eq!(call.meta::<String>(key).unwrap_err().key, key);
        }
    }

    #[test]
    fn f4_an_oversize_document_is_known_by_its_digest() {
        let oversize = Payload::Oversize(Oversize { bytes: 9_000_000, digest: "ab12".into() });
        assert_eq!((oversize.text(), oversize.digest().as_str()), (None, "ab12"));
    }

    #[test]
    fn equal_documents_have_equal_digests() {
        let digest = |text: &str| Payload::Text(text.into()).digest();
        assert_eq!(digest(r#"{"a":1,"b":[2,3]}"#), digest(r#"{ "b": [2, 3], "a": 1 }"#));
        assert_ne!(digest(r#"{"a":1}"#), digest(r#"{"a":2}"#));
        assert_ne!(digest(r#"{"a":[1,2]}"#), digest(r#"{"a":[2,1]}"#));
        assert_ne!(digest("not JSON"), digest("not json"));
    }
}
