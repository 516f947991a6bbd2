//! A listener in the set: its name, its deadline, and what becomes of its failures.

mod breaker;

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;

use crate::answers;
use crate::caller::Caller;
use crate::failure::ListenerFailure;
use crate::grant::{GrantAnswer, GrantedCall};
use crate::listener::{GrantQuery, Hooks, Listener};
use crate::report::{CallReport, Said, Step};
use crate::verdict::Verdict;

pub use breaker::BreakerLimits;

use breaker::{Breakers, Change, Question};

/// How many callers' decisions, and how many names, are remembered for one listener.
const REMEMBERED: usize = 1_024;
/// The largest decision that is remembered, in bytes: a listener must not fill the host's memory with them.
const LARGEST_REMEMBERED: usize = 64 * 1_024;

/// A listener as configured.
#[derive(Debug)]
pub struct Subscription {
    name: String,
    listener: Arc<dyn Listener>,
    deadline: Duration,
    delivery: Delivery,
    reusable: Mutex<HashMap<Arc<Caller>, ReusableAnswer>>,
    named: Mutex<HashSet<String>>,
    breakers: Breakers,
    failures: AtomicU64,
}

/// When an after-call listener is told (A5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Before the answer leaves, so that a retry finds what it recorded.
    BeforeReply,
    /// Behind the answer, through a bounded queue.
    BehindReply,
}

#[derive(Clone, Debug)]
struct ReusableAnswer {
    generation: u64,
    until: Instant,
    answer: GrantAnswer,
}

impl Subscription {
    /// A listener of that name, which has that long for each event. One that keeps failing is suspended as
    /// [`BreakerLimits::default`] says.
    pub fn new(name: impl Into<String>, listener: Arc<dyn Listener>, deadline: Duration, delivery: Delivery) -> Self {
        Self {
            name: name.into(),
            listener,
            deadline,
            delivery,
            reusable: Mutex::default(),
            named: Mutex::default(),
            breakers: Breakers::new(BreakerLimits::default()),
            failures: AtomicU64::new(0),
        }
    }

    /// The same with other limits for a listener that keeps failing.
    #[must_use]
    pub fn with_breaker(mut self, limits: BreakerLimits) -> Self {
        self.breakers = Breakers::new(limits);
        self
    }

    /// The configured name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The hooks that the listener has.
    pub fn hooks(&self) -> Hooks {
        self.listener.hooks()
    }

    /// SHA-256 of the component; empty for a type of the host project.
    pub fn digest(&self) -> &str {
        self.listener.digest()
    }

    /// How long the listener has for each event.
    pub fn deadline(&self) -> Duration {
        self.deadline
    }

    /// When it is told of calls that are over.
    pub fn delivery(&self) -> Delivery {
        self.delivery
    }

    /// How often it failed so far. Events that were not run because it is suspended are counted apart.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// How many events it was not asked about, and failed by that, because it kept failing (F6).
    pub fn suspended(&self) -> u64 {
        self.breakers.suspended()
    }

    /// Asks which tools exist for a caller, or uses an answer again where the listener allows it (G10).
    pub(crate) async fn grant(
        &self,
        query: &GrantQuery,
        generation: u64,
    ) -> (Result<GrantAnswer, ListenerFailure>, Step) {
        let begun = Instant::now();
        let answer = match self.remembered(&query.caller, generation) {
            Some(answer) => Ok(answer),
            None => {
                let fresh = self.ask(Question::Grant(&query.caller), self.listener.grant(query)).await;
                if let Ok(GrantAnswer::Narrow(narrowing)) = &fresh
                    && !narrowing.reusable().is_zero()
                    && narrowing.size() <= LARGEST_REMEMBERED
                {
                    let until = begun + narrowing.reusable();
                    let answer = GrantAnswer::Narrow(narrowing.clone());
                    self.remember(query.caller.clone(), ReusableAnswer { generation, until, answer });
                }
                fresh
            }
        };
        let said = match &answer {
            Ok(GrantAnswer::Abstain) => Said::Abstain,
            Ok(GrantAnswer::Narrow(_)) => Said::Narrow,
            Err(_) => Said::Failed,
        };
        let reason = answer.as_ref().err().map(ToString::to_string);
        (answer, self.step(said, reason, begun))
    }

    /// Asks whether a call goes on. An answer that is not allowed is a failure (B5).
    pub(crate) async fn before_call(&self, call: &GrantedCall) -> (Result<Verdict, ListenerFailure>, Step) {
        let begun = Instant::now();
        let decide = async {
            let verdict = self.listener.before_call(call).await?;
            if let Verdict::Answer(answer) = &verdict {
                answers::check(call, answer).await.map_err(ListenerFailure::InvalidDecision)?;
            }
            Ok(verdict)
        };
        let question = Question::BeforeCall(&call.context().caller, call.identifier());
        let verdict = self.ask(question, decide).await;
        let (said, reason) = match &verdict {
            Ok(Verdict::Proceed) => (Said::Proceed, None),
            Ok(Verdict::Deny(denial)) => (Said::Deny, denial.private_reason().map(str::to_owned)),
            Ok(Verdict::Answer(_)) => (Said::Answer, None),
            Err(failure) => (Said::Failed, Some(failure.to_string())),
        };
        (verdict, self.step(said, reason, begun))
    }

    /// Tells how a call ended. What becomes of it is nobody's business but the log's (A3).
    pub(crate) async fn after_call(&self, report: &CallReport) {
        let _ = self.ask(Question::AfterCall, self.listener.after_call(report)).await;
    }

    /// Whether the listener names that withheld tool for the first time.
    pub(crate) fn first_time_named(&self, identifier: &str) -> bool {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.len() < REMEMBERED && named.insert(identifier.to_owned())
    }

    // INVARIANT: every event of every listener goes through here, so a failure is seen, logged and counted in one place.
    // What it means is said by where the result goes: strict or lenient reading, verdict, or nothing (F3).
    async fn ask<T>(
        &self,
        question: Question<'_>,
        event: impl Future<Output = Result<T, ListenerFailure>>,
    ) -> Result<T, ListenerFailure> {
        // What is suspended is counted and not told one by one: a caller chooses how often.
        let pass = self.breakers.admit(question, tokio::time::Instant::now())?;
        let contained = AssertUnwindSafe(event).catch_unwind();
        let result = match tokio::time::timeout(self.deadline, contained).await {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => Err(ListenerFailure::Panic(panic_message(panic.as_ref()))),
            Err(_) => Err(ListenerFailure::Deadline(self.deadline)),
        };
        if let Err(failure) = &result {
            self.failures.fetch_add(1, Ordering::Relaxed);
            tracing::error!(
                listener = self.name,
                digest = self.digest(),
                hook = question.hook(),
                kind = failure.kind(),
                %failure,
                "a listener failed"
            );
        }
        if let Some(change) = pass.settle(&result, tokio::time::Instant::now()) {
            self.tell(change, question);
        }
        result
    }

    fn tell(&self, change: Change, question: Question<'_>) {
        let (hook, caller, tool) = (question.hook(), question.caller().map(Caller::subject), question.tool());
        match change {
            Change::Opened { pause } => tracing::warn!(
                listener = self.name,
                hook,
                caller,
                tool,
                pause_ms = pause.as_millis(),
                "a listener keeps failing: it is not asked for this while, and what it is not asked has failed"
            ),
            Change::Closed { suspended } => tracing::warn!(
                listener = self.name,
                hook,
                caller,
                tool,
                suspended,
                "a listener that kept failing has answered: it is asked again"
            ),
        }
    }

    fn step(&self, said: Said, private_reason: Option<String>, begun: Instant) -> Step {
        Step {
            listener: self.name.clone(),
            digest: self.digest().to_owned(),
            said,
            private_reason,
            duration: begun.elapsed(),
        }
    }

    fn remembered(&self, caller: &Arc<Caller>, generation: u64) -> Option<GrantAnswer> {
        let reusable = self.reusable.lock().unwrap_or_else(PoisonError::into_inner);
        let known = reusable.get(caller)?;
        (known.generation == generation && Instant::now() < known.until).then(|| known.answer.clone())
    }

    fn remember(&self, caller: Arc<Caller>, answer: ReusableAnswer) {
        let mut reusable = self.reusable.lock().unwrap_or_else(PoisonError::into_inner);
        if reusable.len() >= REMEMBERED {
            reusable.clear();
        }
        reusable.insert(caller, answer);
    }
}

fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("without a message").to_owned()
}
