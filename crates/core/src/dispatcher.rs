//! One governed call, from the request to the answer.

mod after;
mod before;
mod departure;
mod dispatch;
mod explain;
mod in_flight;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::caller::Caller;
use crate::grant::{AccessGate, GateFailure, GrantedCall};
use crate::json::{Entry, Json};
use crate::refusal::Refusal;
use crate::registry::{Row, Tool};
use crate::report::{CallFailure, Ending, FailureKind, Step};
use crate::request::{CallRequest, Normalised, Round, ToolCallContext, normalise};
use crate::rules::{RuleSet, Rules};
use crate::tool::ToolReply;

pub use crate::grant::Reading;
pub use departure::{CallInFlight, Canceller};
pub use explain::{Explanation, Foreseen};

use after::{Afterwards, BehindReply};
use before::Consent;
use departure::Departure;
use in_flight::InFlight;

/// Takes listings and calls through governance. Cheap to clone; all clones are one dispatcher.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    rules: Arc<Rules>,
    call_deadline: Duration,
    attributes: Arc<[Entry]>,
    run: u64,
    sequence: AtomicU64,
    calls: AtomicU64,
    degraded_listings: AtomicU64,
    behind: BehindReply,
    in_flight: InFlight,
}

/// What the caller gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The tool's own reply, to pass on unchanged.
    Executed(ToolReply),
    /// A tool result that a listener held already.
    Answered(Json),
    /// A tool result with `isError: true` that gives a listener's reason.
    Denied(Json),
    /// An error.
    Refused(Refusal),
    /// Nothing: the caller has left.
    Departed,
}

/// The tools that exist for a caller.
#[derive(Clone, Debug)]
pub struct Listing {
    /// Ordered by identifier.
    pub tools: Vec<Arc<Tool>>,
    /// Whether every listener answered.
    pub reading: Reading,
}

/// What a dispatcher counted since it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Calls that reached before-call listeners, or whose access could not be decided: as many after-call events.
    pub calls: u64,
    /// Listings in which a listener failed (G6).
    pub degraded_listings: u64,
    /// Events for listeners behind the answer that found no place in their queue or were left at shutdown (A5).
    pub dropped_events: u64,
}

impl Dispatcher {
    /// A dispatcher over the rules in force. A tool has `call_deadline` for each call.
    pub fn new(rules: Arc<Rules>, call_deadline: Duration) -> Self {
        // The hasher's keys come from the operating system, which makes the number one that no other process has.
        let run = RandomState::new().build_hasher().finish();
        let host_run = Entry { key: "callgate/host-run".into(), value: Json::string(&format!("{run:016x}")) };
        let inner = Inner {
            rules,
            call_deadline,
            attributes: [host_run].into(),
            run,
            sequence: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            degraded_listings: AtomicU64::new(0),
            behind: BehindReply::default(),
            in_flight: InFlight::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The rules in force.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.inner.rules
    }

    /// What was counted so far.
    pub fn counters(&self) -> Counters {
        Counters {
            calls: self.inner.calls.load(Ordering::Relaxed),
            degraded_listings: self.inner.degraded_listings.load(Ordering::Relaxed),
            dropped_events: self.inner.behind.dropped(),
        }
    }

    /// Waits until every call has ended and every queued after-call event was delivered, or until the time is over: what is
    /// left then is dropped and counted.
    pub async fn drain(&self, time: Duration) {
        let end = tokio::time::Instant::now() + time;
        if tokio::time::timeout_at(end, self.inner.in_flight.none_left()).await.is_err() {
            tracing::error!("calls are still under way at the end");
        }
        self.inner.behind.drain(end).await;
    }

    /// The tools that exist for a caller: none for nobody (G7). A listener that fails leaves the base decision (G6).
    pub async fn list(&self, caller: Option<Arc<Caller>>) -> Listing {
        let Some(caller) = caller else { return Listing { tools: Vec::new(), reading: Reading::Complete } };
        let rules = self.inner.rules.current();
        let decision = AccessGate::new(&rules).decide(&caller).await;
        let (effective, reading) = decision.lenient();
        if reading == Reading::Degraded {
            self.inner.degraded_listings.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(caller = caller.subject(), "a listing shows what the caller's roles permit");
        }
        Listing { tools: effective.tools().cloned().collect(), reading }
    }

    /// Takes a call through governance, in a task of its own on the current tokio runtime: the call comes to its end, and
    /// its after-call event is dispatched, also when the returned future is dropped (A1).
    pub fn call(&self, request: CallRequest) -> CallInFlight {
        let inner = self.inner.clone();
        let under_way = self.inner.in_flight.enter();
        CallInFlight::spawn(|departure| async move {
            let _under_way = under_way;
            inner.govern(request, departure).await.unwrap_or_else(Outcome::Refused)
        })
    }
}

impl Inner {
    async fn govern(&self, request: CallRequest, mut departure: Departure) -> Result<Outcome, Refusal> {
        let normalised = normalise(&request.params).ok_or(Refusal::ToolNameRequired)?;
        let unknown = Refusal::UnknownTool(normalised.identifier.clone());
        let caller = request.caller.ok_or_else(|| unknown.clone())?;
        let rules = self.rules.current();

        let identifier = normalised.identifier.clone();
        let context = |row| self.context(&caller, row, normalised, request.round);
        let decision = AccessGate::new(&rules).decide(&caller).await;
        let granted = match decision.strict() {
            Ok(effective) => effective.grant(&identifier, request.params, request.wire, context).ok_or(unknown)?,
            Err(failure) => {
                let row = rules.registry.find(&identifier).map(|tool| tool.row.clone());
                self.report_undecided(&rules, context(row), failure, decision.steps()).await;
                return Err(Refusal::AccessNotVerified);
            }
        };
        if departure.reason().is_some() {
            return Ok(Outcome::Departed);
        }

        let mut afterwards = self.reserve(&rules, granted.context().clone(), decision.steps());
        let consent = before::ask(&rules, &granted, &departure, afterwards.steps()).await;
        let (ending, outcome) = self.carry_out(&granted, consent, &mut departure, &mut afterwards).await;
        afterwards.tell(ending, &outcome).await;
        outcome
    }

    /// Does what the before-call listeners said.
    async fn carry_out(
        &self,
        granted: &GrantedCall,
        consent: Consent,
        departure: &mut Departure,
        afterwards: &mut Afterwards,
    ) -> (Ending, Result<Outcome, Refusal>) {
        match consent {
            Consent::Failed { listener, detail } => {
                let failure = CallFailure { kind: FailureKind::Listener, listener: Some(listener), detail };
                (Ending::Failed(failure), Err(Refusal::Internal))
            }
            Consent::Departed(kind) => departed(kind),
            Consent::Denied { listener, denial } => {
                (Ending::Denied { listener }, Ok(Outcome::Denied(error_result(denial.reason()))))
            }
            Consent::Answered { .. } | Consent::Proceed if !self.still_permitted(granted) => {
                (Ending::Withdrawn, Err(Refusal::UnknownTool(granted.identifier().to_owned())))
            }
            Consent::Answered { listener, answer } => (Ending::Answered { listener }, Ok(Outcome::Answered(answer))),
            Consent::Proceed => self.dispatch(granted, departure, afterwards).await,
        }
    }

    /// The last line of defence (G8): the registry and the permissions in force now, whatever was decided before.
    fn still_permitted(&self, granted: &GrantedCall) -> bool {
        let rules = self.rules.current();
        let tool = rules.registry.find(granted.identifier());
        tool.is_some_and(|tool| rules.permissions.decide(&granted.context().caller, &tool.row).permits())
    }

    fn context(
        &self,
        caller: &Arc<Caller>,
        row: Option<Arc<Row>>,
        normalised: Normalised,
        round: Round,
    ) -> ToolCallContext {
        let number = self.sequence.fetch_add(1, Ordering::Relaxed);
        ToolCallContext {
            id: format!("{:016x}{number:016x}", self.run),
            caller: caller.clone(),
            row,
            identifier: normalised.identifier,
            arguments: normalised.arguments,
            meta: normalised.meta,
            round,
            attributes: self.attributes.clone(),
        }
    }

    /// Reserves the place of a call's after-call event (F4).
    fn reserve(&self, rules: &RuleSet, call: Arc<ToolCallContext>, steps: &[Step]) -> Afterwards {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Afterwards::reserve(&self.behind, rules, call, steps)
    }

    /// The one after-call event of a call over which the gate failed (G5).
    async fn report_undecided(&self, rules: &RuleSet, context: ToolCallContext, failure: &GateFailure, steps: &[Step]) {
        let failure = CallFailure {
            kind: FailureKind::Gate,
            listener: Some(failure.listener.clone()),
            detail: failure.failure.to_string(),
        };
        let afterwards = self.reserve(rules, Arc::new(context), steps);
        afterwards.tell(Ending::Failed(failure), &Err(Refusal::AccessNotVerified)).await;
    }
}

fn departed(kind: FailureKind) -> (Ending, Result<Outcome, Refusal>) {
    let detail = "the caller did not wait for the answer".to_owned();
    (Ending::Failed(CallFailure { kind, listener: None, detail }), Ok(Outcome::Departed))
}

/// A tool result that says what went wrong: `isError: true` and one block of text.
pub fn error_result(text: &str) -> Json {
    Json::written(format!(r#"{{"content":[{}],"isError":true}}"#, Json::text_block(text)))
}
