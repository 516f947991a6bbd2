//! A listener that says what a test tells it to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use crate::Subscription;
use crate::failure::ListenerFailure;
use crate::grant::{GrantAnswer, GrantedCall};
use crate::listener::{GrantQuery, Hooks, Listener};
use crate::report::CallReport;
use crate::request::ToolCallContext;
use crate::subscription::Delivery;
use crate::verdict::Verdict;

type Decide<I, O> = Box<dyn Fn(&I) -> Result<O, ListenerFailure> + Send + Sync>;

/// A listener made of closures. It has the hooks that it was given, and keeps what it was told.
#[derive(Default)]
pub struct Scripted {
    grant: Option<Decide<GrantQuery, GrantAnswer>>,
    before_call: Option<Decide<GrantedCall, Verdict>>,
    after_call: Option<Decide<CallReport, ()>>,
    asked: AtomicU64,
    before: Mutex<Vec<Arc<ToolCallContext>>>,
    reports: Mutex<Vec<CallReport>>,
}

impl Scripted {
    /// Adds a grant hook.
    #[must_use]
    pub fn on_grant(
        mut self,
        decide: impl Fn(&GrantQuery) -> Result<GrantAnswer, ListenerFailure> + Send + Sync + 'static,
    ) -> Self {
        self.grant = Some(Box::new(decide));
        self
    }

    /// Adds a before-call hook.
    #[must_use]
    pub fn on_before_call(
        mut self,
        decide: impl Fn(&GrantedCall) -> Result<Verdict, ListenerFailure> + Send + Sync + 'static,
    ) -> Self {
        self.before_call = Some(Box::new(decide));
        self
    }

    /// Adds an after-call hook.
    #[must_use]
    pub fn on_after_call(
        mut self,
        notify: impl Fn(&CallReport) -> Result<(), ListenerFailure> + Send + Sync + 'static,
    ) -> Self {
        self.after_call = Some(Box::new(notify));
        self
    }

    /// How often the grant hook was asked.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    /// The calls that the before-call hook was asked about.
    pub fn before(&self) -> Vec<Arc<ToolCallContext>> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The reports that the after-call hook was given.
    pub fn reports(&self) -> Vec<CallReport> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Listener for Scripted {
    fn hooks(&self) -> Hooks {
        Hooks {
            grant: self.grant.is_some(),
            before_call: self.before_call.is_some(),
            after_call: self.after_call.is_some(),
        }
    }

    async fn grant(&self, query: &GrantQuery) -> Result<GrantAnswer, ListenerFailure> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.grant.as_ref().map_or(Ok(GrantAnswer::Abstain), |decide| decide(query))
    }

    async fn before_call(&self, call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        self.before.lock().unwrap_or_else(PoisonError::into_inner).push(call.context().clone());
        self.before_call.as_ref().map_or(Ok(Verdict::Proceed), |decide| decide(call))
    }

    async fn after_call(&self, report: &CallReport) -> Result<(), ListenerFailure> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).push(report.clone());
        self.after_call.as_ref().map_or(Ok(()), |notify| notify(report))
    }
}

impl std::fmt::Debug for Scripted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scripted").field("hooks", &self.hooks()).finish_non_exhaustive()
    }
}

/// A listener in the set with a deadline of ten seconds, told before the answer.
pub fn subscription(name: &str, listener: Arc<dyn Listener>) -> Subscription {
    Subscription::new(name, listener, Duration::from_secs(10), Delivery::BeforeReply)
}
