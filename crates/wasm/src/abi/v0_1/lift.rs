//! What a guest decided, as core sees it.

use std::time::Duration;

use callgate_core::failure::{InvalidDecision, ListenerFailure};
use callgate_core::grant::{GrantAnswer, Narrowing};
use callgate_core::json::Json;
use callgate_core::verdict::{Denial, Verdict};

use crate::text::printable;

use super::bindings::exports::callgate::listener::{before_call, grant};

/// The longest private reason, in characters. It goes to the log.
const PRIVATE_REASON: usize = 4_096;

/// The most bytes of patterns and exceptions together. The host tries them on every row of a listing, and no deadline of the
/// guest's holds for that.
const PATTERNS: usize = 16 << 10;

/// A grant decision, if its texts are not larger than the cap.
pub(crate) fn grant_answer(decision: grant::Decision, cap: usize) -> Result<GrantAnswer, ListenerFailure> {
    let grant::Decision::Narrow(narrowing) = decision else { return Ok(GrantAnswer::Abstain) };
    let grant::Narrowing { identifiers, patterns, excluding, reusable_ms } = narrowing;
    let tried = size(patterns.iter().chain(&excluding));
    check(tried.saturating_add(size(&identifiers)), cap)?;
    if tried > PATTERNS {
        return Err(ListenerFailure::Limit { limit: "patterns", stderr: String::new() });
    }
    Ok(GrantAnswer::Narrow(
        Narrowing::to_nothing()
            .and_named(identifiers)
            .and_matching(patterns)
            .excluding(excluding)
            .reusable_for(Duration::from_millis(reusable_ms.into())),
    ))
}

/// A verdict, if its texts are not larger than the cap, a denial has a reason (B4) and an answer is JSON (B5).
pub(crate) fn verdict(verdict: before_call::Verdict, cap: usize) -> Result<Verdict, ListenerFailure> {
    match verdict {
        before_call::Verdict::Proceed => Ok(Verdict::Proceed),
        before_call::Verdict::Deny(before_call::Denial { reason, private_reason }) => {
            check(reason.len().saturating_add(private_reason.as_ref().map_or(0, String::len)), cap)?;
            let private_reason = private_reason.map(|reason| printable(&reason, PRIVATE_REASON));
            let denial = Denial::new(reason).map_err(ListenerFailure::InvalidDecision)?;
            Ok(Verdict::Deny(denial.with_private_reason(private_reason)))
        }
        before_call::Verdict::Answer(text) => {
            check(text.len(), cap)?;
            let invalid = |error: callgate_core::json::JsonError| {
                ListenerFailure::InvalidDecision(InvalidDecision::NotAToolResult(printable(&error.to_string(), 256)))
            };
            Json::parse(&text).map(Verdict::Answer).map_err(invalid)
        }
    }
}

/// A text costs more than its characters, so that a million empty ones are not free.
fn size<'t>(texts: impl IntoIterator<Item = &'t String>) -> usize {
    texts.into_iter().map(|text| text.len().saturating_add(8)).fold(0, usize::saturating_add)
}

fn check(bytes: usize, cap: usize) -> Result<(), ListenerFailure> {
    if bytes <= cap { Ok(()) } else { Err(ListenerFailure::Limit { limit: "output", stderr: String::new() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deny(reason: &str, private_reason: Option<&str>) -> before_call::Verdict {
        before_call::Verdict::Deny(before_call::Denial {
            reason: reason.into(),
            private_reason: private_reason.map(Into::into),
        })
    }

    fn limit() -> ListenerFailure {
        ListenerFailure::Limit { limit: "output", stderr: String::new() }
    }

    #[test]
    fn b4_a_denial_without_a_reason_is_a_failure() {
        let failure = ListenerFailure::InvalidDecision(InvalidDecision::EmptyReason);
        assert_eq!(verdict(deny(" \n", Some("private")), 100), Err(failure));
    }

    #[test]
    fn b5_an_answer_that_is_no_json_is_a_failure() {
        for text in ["", "{", "{} {}", "hello"] {
            let lifted = verdict(before_call::Verdict::Answer(text.into()), 100);
            let Err(ListenerFailure::InvalidDecision(InvalidDecision::NotAToolResult(_))) = lifted else {
                panic!("{text}: {lifted:?}");
            };
        }
    }

    #[test]
    fn f1_output_over_its_limit_is_a_failure() {
        assert!(verdict(deny("1234", Some("5678")), 8).is_ok());
        assert_eq!(verdict(deny("1234", Some("56789")), 8), Err(limit()));
        assert_eq!(verdict(before_call::Verdict::Answer("[1,2,3,4]".into()), 8), Err(limit()));
        let narrow = |names: Vec<String>| {
            grant::Decision::Narrow(grant::Narrowing {
                identifiers: names,
                patterns: Vec::new(),
                excluding: Vec::new(),
                reusable_ms: 0,
            })
        };
        assert!(grant_answer(narrow(vec![String::new()]), 8).is_ok());
        assert_eq!(grant_answer(narrow(vec![String::new(); 2]), 8), Err(limit()));
    }

    #[test]
    fn f2_patterns_that_would_keep_the_host_busy_are_a_failure() {
        let matching = |length: usize| {
            grant::Decision::Narrow(grant::Narrowing {
                identifiers: vec!["a name is looked up, not tried".into(); 1_000],
                patterns: vec!["*a".repeat(length / 2 - 8)],
                excluding: vec![String::new()],
                reusable_ms: 0,
            })
        };
        assert!(grant_answer(matching(PATTERNS), 1 << 20).is_ok());
        let failure = grant_answer(matching(PATTERNS + 2), 1 << 20).unwrap_err();
        assert!(matches!(failure, ListenerFailure::Limit { limit: "patterns", .. }), "{failure:?}");
    }

    #[test]
    fn a_private_reason_is_fit_for_a_log() {
        let Ok(Verdict::Deny(denial)) = verdict(deny("no", Some("a\r\nb\u{1b}[0m")), 100) else { panic!("no denial") };
        assert_eq!(denial.private_reason(), Some("a b [0m"));
    }
}
