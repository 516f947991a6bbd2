//! The two eras of the protocol: sessions that begin with a handshake, and requests that stand alone.

use callgate_core::Json;

use crate::edit;

/// The revision of the modern era.
pub(crate) const MODERN_VERSION: &str = "2026-07-28";
/// Revisions with a handshake that the gateway speaks by itself, newest first.
pub(crate) const LEGACY_VERSIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];

/// The member of a request's `_meta` that names the revision it is written in.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
/// The member of a request's `_meta` that says what the client can do.
pub(crate) const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// Which era a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Up to 2025-11-25: `initialize`, a session, results without a type.
    Legacy,
    /// From 2026-07-28: every request says what it needs, every result has a type.
    Modern,
}

impl Era {
    /// The era of a request, which says so itself.
    pub fn of(line: &Json) -> Self {
        match edit::find(line.as_str(), &["params", "_meta", VERSION_KEY]) {
            Some(_) => Self::Modern,
            None => Self::Legacy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_which_era_it_belongs_to() {
        let era = |text| Era::of(&Json::parse(text).unwrap());
        assert_eq!(
            era(r#"{"method":"x","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#),
            Era::Modern
        );
        assert_eq!(era(r#"{"method":"x","params":{"_meta":{"progressToken":1}}}"#), Era::Legacy);
        assert_eq!(era(r#"{"method":"x"}"#), Era::Legacy);
    }
}
