//! Short ways to say what a hook decides.

use std::time::Duration;

use serde_json::json;

use crate::{Decision, Denial, Narrowing, Verdict};

impl Verdict {
    /// Refuses the call. The caller is usually a model: the reason says what it can do about it.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::Deny(Denial { reason: reason.into(), private_reason: None })
    }

    /// Refuses the call, with a second reason that only the log and the audit trail get.
    pub fn deny_privately(reason: impl Into<String>, private_reason: impl Into<String>) -> Self {
        Self::Deny(Denial { reason: reason.into(), private_reason: Some(private_reason.into()) })
    }

    /// Replies with a tool result of one text block in place of running the tool. A tool with an output schema needs a
    /// whole result with `structuredContent`: build that with [`Verdict::Answer`].
    pub fn answer_text(text: &str) -> Self {
        Self::Answer(json!({ "content": [{ "type": "text", "text": text }] }).to_string())
    }
}

impl Narrowing {
    /// Keeps nothing.
    pub fn nothing() -> Self {
        Self { identifiers: Vec::new(), patterns: Vec::new(), excluding: Vec::new(), reusable_ms: 0 }
    }

    /// Keeps these rows too, generic ones included.
    #[must_use]
    pub fn named(mut self, identifiers: impl IntoIterator<Item: Into<String>>) -> Self {
        self.identifiers.extend(identifiers.into_iter().map(Into::into));
        self
    }

    /// Keeps the rows that match too. `*` stands for any run of characters and `?` for one; generic rows never match.
    #[must_use]
    pub fn matching(mut self, patterns: impl IntoIterator<Item: Into<String>>) -> Self {
        self.patterns.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Takes these patterns out of what [`matching`](Self::matching) keeps.
    #[must_use]
    pub fn excluding(mut self, patterns: impl IntoIterator<Item: Into<String>>) -> Self {
        self.excluding.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Lets the host use this decision again for that long, for an equal caller over the same registry and configuration.
    /// The host stops at 60 seconds. Without it every listing and every call asks anew.
    #[must_use]
    pub fn reusable_for(mut self, time: Duration) -> Self {
        self.reusable_ms = u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
        self
    }
}

impl From<Narrowing> for Decision {
    fn from(narrowing: Narrowing) -> Self {
        Self::Narrow(narrowing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrowing_keeps_everything_that_it_was_told() {
        let narrowing = Narrowing::nothing()
            .named(["a"])
            .named([String::from("b")])
            .matching(["c*"])
            .excluding(["cd"])
            .reusable_for(Duration::from_secs(5));
        assert_eq!(
            narrowing,
            Narrowing {
                identifiers: vec!["a".into(), "b".into()],
                patterns: vec!["c*".into()],
                excluding: vec!["cd".into()],
                reusable_ms: 5_000,
            }
        );
    }

    #[test]
    fn b2_a_text_answer_is_a_tool_result() {
        let Verdict::Answer(result) = Verdict::answer_text("a \"quoted\" word") else { panic!("no answer") };
        assert_eq!(result, r#"{"content":[{"text":"a \"quoted\" word","type":"text"}]}"#);
    }
}
