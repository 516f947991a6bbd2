//! The access gate: role filtering, narrowed by listeners, read strictly for a call and leniently for a listing.

mod call;
mod decision;
mod narrowing;

use std::sync::Arc;

pub use call::GrantedCall;
pub use decision::{EffectiveSet, GateFailure, GrantDecision, Reading, RowDecision};
pub use narrowing::{GrantAnswer, MAX_REUSE, Narrowing, Pattern};

use crate::caller::Caller;
use crate::listener::GrantQuery;
use crate::report::Said;
use crate::rules::RuleSet;
use crate::subscription::Subscription;

/// Decides which tools exist for a caller, over one generation of rules (G1).
#[derive(Debug)]
pub(crate) struct AccessGate<'r> {
    rules: &'r Arc<RuleSet>,
}

impl<'r> AccessGate<'r> {
    pub(crate) fn new(rules: &'r Arc<RuleSet>) -> Self {
        Self { rules }
    }

    /// Asks every grant listener. The question depends on the caller and the rows alone, so it is the same for a listing,
    /// for a call, and for a call to a name that is no row (G4, G10).
    pub(crate) async fn decide(&self, caller: &Arc<Caller>) -> GrantDecision<'r> {
        let mut decision = GrantDecision::new(self.rules, caller.clone());
        let query = GrantQuery { caller: caller.clone(), registry: self.rules.registry.clone() };
        for subscription in self.rules.listeners.iter().filter(|it| it.hooks().grant) {
            let (answer, step) = subscription.grant(&query, self.rules.generation()).await;
            if let (Ok(GrantAnswer::Narrow(narrowing)), Said::Narrow) = (&answer, step.said) {
                self.warn_of_withheld(caller, subscription, narrowing);
            }
            decision.record(answer, step);
        }
        decision
    }

    /// An override can not add what the base decision withholds; one that tries is probably a mistake, so it is told, once.
    fn warn_of_withheld(&self, caller: &Caller, subscription: &Subscription, narrowing: &Narrowing) {
        for identifier in narrowing.identifiers() {
            let Some(tool) = self.rules.registry.find(identifier) else { continue };
            let withheld = !self.rules.permissions.decide(caller, &tool.row).permits();
            if withheld && subscription.first_time_named(identifier) {
                tracing::warn!(
                    listener = subscription.name(),
                    tool = identifier,
                    caller = caller.subject(),
                    "an override names a tool that the caller's roles withhold; it stays withheld"
                );
            }
        }
    }
}
