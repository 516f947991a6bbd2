//! One decision over all rows, and its two readings.

use std::sync::Arc;

use crate::caller::Caller;
use crate::failure::ListenerFailure;
use crate::json::Json;
use crate::permissions::BaseDecision;
use crate::registry::{Row, Tool};
use crate::report::Step;
use crate::request::ToolCallContext;
use crate::rules::RuleSet;

use super::{GrantAnswer, GrantedCall, Narrowing};

/// What role filtering and every grant listener said about one caller.
#[derive(Debug)]
pub struct GrantDecision<'r> {
    rules: &'r Arc<RuleSet>,
    caller: Arc<Caller>,
    narrowings: Vec<(String, Narrowing)>,
    failure: Option<GateFailure>,
    steps: Vec<Step>,
}

/// The first grant listener that failed, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateFailure {
    /// The listener's name.
    pub listener: String,
    /// How it failed.
    pub failure: ListenerFailure,
}

/// How completely a decision could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// Every listener answered.
    Complete,
    /// A listener failed, and the base decision stands in for it (G6).
    Degraded,
}

/// The rows that exist for a caller.
#[derive(Debug)]
pub struct EffectiveSet<'d> {
    decision: &'d GrantDecision<'d>,
}

/// What the gate says about one row, and who said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowDecision {
    /// It exists for the caller.
    Granted,
    /// The caller's roles withhold it.
    Withheld(BaseDecision),
    /// The named listener's override leaves it out.
    Narrowed(String),
}

impl<'r> GrantDecision<'r> {
    pub(super) fn new(rules: &'r Arc<RuleSet>, caller: Arc<Caller>) -> Self {
        Self { rules, caller, narrowings: Vec::new(), failure: None, steps: Vec::new() }
    }

    pub(super) fn record(&mut self, answer: Result<GrantAnswer, ListenerFailure>, step: Step) {
        match answer {
            Ok(GrantAnswer::Abstain) => {}
            Ok(GrantAnswer::Narrow(narrowing)) => self.narrowings.push((step.listener.clone(), narrowing)),
            Err(failure) => {
                let listener = step.listener.clone();
                self.failure.get_or_insert(GateFailure { listener, failure });
            }
        }
        self.steps.push(step);
    }

    /// The reading for a call: a listener that failed might have withheld the tool, so nothing is granted (G5).
    ///
    /// # Errors
    /// When a listener failed.
    pub fn strict(&self) -> Result<EffectiveSet<'_>, &GateFailure> {
        match &self.failure {
            Some(failure) => Err(failure),
            None => Ok(EffectiveSet { decision: self }),
        }
    }

    /// The reading for a listing: what a listener that failed would have said is left out, so the base decision and the
    /// overrides of the others stand (G6).
    pub fn lenient(&self) -> (EffectiveSet<'_>, Reading) {
        let reading = if self.failure.is_some() { Reading::Degraded } else { Reading::Complete };
        (EffectiveSet { decision: self }, reading)
    }

    /// What each listener said, in the order in which they were asked.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }
}

impl EffectiveSet<'_> {
    /// What the gate says about that row, and who said it.
    pub fn decide(&self, row: &Row) -> RowDecision {
        let base = self.decision.rules.permissions.decide(&self.decision.caller, row);
        if !base.permits() {
            return RowDecision::Withheld(base);
        }
        match self.decision.narrowings.iter().find(|(_, narrowing)| !narrowing.keeps(row)) {
            Some((listener, _)) => RowDecision::Narrowed(listener.clone()),
            None => RowDecision::Granted,
        }
    }

    /// All tools that exist for the caller, ordered by identifier.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<Tool>> {
        self.decision.rules.registry.tools().filter(|tool| self.decide(&tool.row) == RowDecision::Granted)
    }

    /// Grants a call to the tool of that name; none for a hidden tool and for a name that is no row alike (G4). `context`
    /// describes the call over the row that it is granted for.
    pub(crate) fn grant(
        &self,
        identifier: &str,
        params: Json,
        wire: Option<Json>,
        context: impl FnOnce(Option<Arc<Row>>) -> ToolCallContext,
    ) -> Option<GrantedCall> {
        let tool = self.decision.rules.registry.find(identifier)?;
        let granted = self.decide(&tool.row) == RowDecision::Granted;
        granted.then(|| {
            let context = Arc::new(context(Some(tool.row.clone())));
            GrantedCall::new(tool.clone(), context, params, wire)
        })
    }
}
