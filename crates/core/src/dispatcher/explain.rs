//! What a call would come to, and why: by the code that decides a live call, short of running the tool.

use std::sync::Arc;

use crate::grant::{AccessGate, RowDecision};
use crate::json::Json;
use crate::permissions::BaseDecision;
use crate::refusal::Refusal;
use crate::registry::Row;
use crate::report::Step;
use crate::request::{CallRequest, normalise};

use super::Dispatcher;
use super::before::{self, Consent};
use super::departure::Departure;

/// Why a call would end as it would.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The row of that name, if there is one.
    pub row: Option<Arc<Row>>,
    /// What role filtering says about it.
    pub base: Option<BaseDecision>,
    /// What the gate as a whole says about it; none where a listener failed.
    pub gate: Option<RowDecision>,
    /// What each listener said, grant hooks first, in the order in which they were asked.
    pub steps: Vec<Step>,
    /// How the call would end.
    pub foreseen: Foreseen,
}

/// How a call would end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Foreseen {
    /// The tool would run.
    Runs,
    /// The listener would answer with this result.
    Answered {
        /// Who.
        listener: String,
        /// With what.
        answer: Json,
    },
    /// The listener would refuse for this public reason.
    Denied {
        /// Who.
        listener: String,
        /// Why.
        reason: String,
    },
    /// The caller would get this error.
    Refused(Refusal),
}

impl Dispatcher {
    /// Decides a call without running it. Listeners are really asked, so their state should be a
    /// [`ScratchState`](crate::state::ScratchState).
    pub async fn explain(&self, request: CallRequest) -> Explanation {
        let mut explanation = Explanation {
            row: None,
            base: None,
            gate: None,
            steps: Vec::new(),
            foreseen: Foreseen::Refused(Refusal::ToolNameRequired),
        };
        let Some(normalised) = normalise(&request.params) else { return explanation };
        let unknown = Refusal::UnknownTool(normalised.identifier.clone());
        explanation.foreseen = Foreseen::Refused(unknown);

        let rules = self.inner.rules.current();
        explanation.row = rules.registry.find(&normalised.identifier).map(|tool| tool.row.clone());
        let Some(caller) = request.caller else { return explanation };
        explanation.base = explanation.row.as_ref().map(|row| rules.permissions.decide(&caller, row));

        let decision = AccessGate::new(&rules).decide(&caller).await;
        explanation.steps = decision.steps().to_vec();
        let Ok(effective) = decision.strict() else {
            explanation.foreseen = Foreseen::Refused(Refusal::AccessNotVerified);
            return explanation;
        };
        explanation.gate = explanation.row.as_ref().map(|row| effective.decide(row));
        let identifier = normalised.identifier.clone();
        let context = |row| self.inner.context(&caller, row, normalised, request.round);
        let Some(granted) = effective.grant(&identifier, request.params, request.wire, context) else {
            return explanation;
        };

        let (_caller_stays, present) = Departure::channel();
        let consent = before::ask(&rules, &granted, &present, &mut explanation.steps).await;
        explanation.foreseen = match consent {
            Consent::Proceed => Foreseen::Runs,
            Consent::Answered { listener, answer } => Foreseen::Answered { listener, answer },
            Consent::Denied { listener, denial } => Foreseen::Denied { listener, reason: denial.reason().to_owned() },
            Consent::Failed { .. } | Consent::Departed(_) => Foreseen::Refused(Refusal::Internal),
        };
        explanation
    }
}
