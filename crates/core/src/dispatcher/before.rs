//! The before-call listeners, one after the other, and what follows from all that they said.

use crate::grant::GrantedCall;
use crate::json::Json;
use crate::report::{FailureKind, Step};
use crate::rules::RuleSet;
use crate::verdict::{Denial, Verdict};

use super::departure::Departure;

/// What follows from all verdicts together (B3, B5, B6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Consent {
    /// The tool may run.
    Proceed,
    /// The first listener that answered.
    Answered { listener: String, answer: Json },
    /// The first listener that denied.
    Denied { listener: String, denial: Denial },
    /// The first listener that failed: it has not decided, whatever the others said.
    Failed { listener: String, detail: String },
    /// The caller left while listeners were asked.
    Departed(FailureKind),
}

/// Asks every before-call listener in order, whatever an earlier one said. Only a caller that leaves ends it early; the
/// listener that is just being asked is heard to its end, so that what it does to its state is over before the after-call
/// event.
pub(super) async fn ask(rules: &RuleSet, call: &GrantedCall, departure: &Departure, steps: &mut Vec<Step>) -> Consent {
    let mut consent = Consent::Proceed;
    for subscription in rules.listeners.iter().filter(|it| it.hooks().before_call) {
        if let Some(kind) = departure.reason() {
            return Consent::Departed(kind);
        }
        let (verdict, step) = subscription.before_call(call).await;
        let listener = step.listener.clone();
        steps.push(step);
        consent = consent.and(match verdict {
            Ok(Verdict::Proceed) => Consent::Proceed,
            Ok(Verdict::Answer(answer)) => Consent::Answered { listener, answer },
            Ok(Verdict::Deny(denial)) => Consent::Denied { listener, denial },
            Err(failure) => Consent::Failed { listener, detail: failure.to_string() },
        });
    }
    departure.reason().map_or(consent, Consent::Departed)
}

impl Consent {
    /// The weightier of two; of two alike the earlier.
    fn and(self, later: Self) -> Self {
        if later.weight() > self.weight() { later } else { self }
    }

    fn weight(&self) -> u8 {
        match self {
            Self::Proceed => 0,
            Self::Answered { .. } => 1,
            Self::Denied { .. } => 2,
            Self::Failed { .. } => 3,
            Self::Departed(_) => 4,
        }
    }
}
