//! One listener's word before a call (B2).

use crate::failure::InvalidDecision;
use crate::json::Json;

/// What a listener says about a call before it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing against it.
    Proceed,
    /// Refuse it.
    Deny(Denial),
    /// Reply with this tool result instead of running the tool.
    Answer(Json),
}

/// A refusal with its reason. The reason is never empty or white space only (B4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    reason: String,
    private_reason: Option<String>,
}

impl Denial {
    /// A denial for that public reason.
    ///
    /// # Errors
    /// When the reason is empty or white space only: the reason is all that the caller is told.
    pub fn new(reason: impl Into<String>) -> Result<Self, InvalidDecision> {
        let reason = reason.into();
        if reason.trim().is_empty() {
            return Err(InvalidDecision::EmptyReason);
        }
        Ok(Self { reason, private_reason: None })
    }

    /// The same denial with a reason for the log and the audit trail.
    #[must_use]
    pub fn with_private_reason(self, private_reason: Option<String>) -> Self {
        Self { private_reason, ..self }
    }

    /// What the caller is told.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What only the log and the audit trail hear.
    pub fn private_reason(&self) -> Option<&str> {
        self.private_reason.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b4_a_denial_needs_a_reason() {
        for empty in ["", " ", "\n\t", "\u{a0}\u{2003}"] {
            assert_eq!(Denial::new(empty), Err(InvalidDecision::EmptyReason));
        }
        let denial = Denial::new("ask first").unwrap().with_private_reason(Some("rule 7".into()));
        assert_eq!((denial.reason(), denial.private_reason()), ("ask first", Some("rule 7")));
    }
}
