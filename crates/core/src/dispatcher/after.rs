//! The after-call event: its place reserved when the call is accepted, and used exactly once (A1).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc};

use crate::json::Json;
use crate::report::{CallReport, Dispatch, Ending, Step};
use crate::request::ToolCallContext;
use crate::rules::RuleSet;
use crate::subscription::{Delivery, Subscription};
use crate::tool::ReplyBody;

use super::{Outcome, Refusal};

/// How many events may wait for listeners behind the answer.
const QUEUE: u32 = 1_024;

/// The events that are delivered behind the answer.
#[derive(Debug)]
pub(super) struct BehindReply {
    queue: std::sync::OnceLock<mpsc::Sender<Event>>,
    places: Arc<Semaphore>,
    dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Event {
    subscription: Arc<Subscription>,
    report: Arc<CallReport>,
    _place: tokio::sync::OwnedSemaphorePermit,
}

/// The after-call event of one accepted call.
#[must_use = "a call that is not told about is missing in every record"]
#[derive(Debug)]
pub(super) struct Afterwards {
    call: Arc<ToolCallContext>,
    now: Vec<Arc<Subscription>>,
    behind: Vec<(Arc<Subscription>, tokio::sync::OwnedSemaphorePermit)>,
    queue: Option<mpsc::Sender<Event>>,
    steps: Vec<Step>,
    dispatch: Dispatch,
    duration: Duration,
}

impl Afterwards {
    /// Reserves the place of a call's event with every after-call listener.
    pub(super) fn reserve(queue: &BehindReply, rules: &RuleSet, call: Arc<ToolCallContext>, steps: &[Step]) -> Self {
        let listeners = rules.listeners.iter().filter(|it| it.hooks().after_call).cloned();
        let (now, behind): (Vec<_>, Vec<_>) = listeners.partition(|it| it.delivery() == Delivery::BeforeReply);
        let behind: Vec<_> = behind.into_iter().filter_map(|it| queue.place(&it).map(|place| (it, place))).collect();
        Self {
            call,
            now,
            queue: (!behind.is_empty()).then(|| queue.sender()),
            behind,
            steps: steps.to_vec(),
            dispatch: Dispatch::None,
            duration: Duration::ZERO,
        }
    }

    pub(super) fn steps(&mut self) -> &mut Vec<Step> {
        &mut self.steps
    }

    pub(super) fn reached(&mut self, dispatch: Dispatch) {
        self.dispatch = dispatch;
    }

    pub(super) fn took(&mut self, duration: Duration) {
        self.duration = duration;
    }

    /// Tells every listener how the call ended. Returns when those that are told before the answer have heard it or met
    /// their deadline (A5).
    pub(super) async fn tell(self, ending: Ending, outcome: &Result<Outcome, Refusal>) {
        let report = Arc::new(CallReport {
            call: self.call,
            reply: reply(outcome),
            ending,
            dispatch: self.dispatch,
            duration: self.duration,
            steps: self.steps,
        });
        for (subscription, place) in self.behind {
            let event = Event { subscription, report: report.clone(), _place: place };
            if let Some(queue) = &self.queue {
                // There is a place for it, so this fails only when the worker is gone with the process.
                let _ = queue.try_send(event);
            }
        }
        for subscription in self.now {
            subscription.after_call(&report).await;
        }
    }
}

/// The tool result that the caller receives, if it receives one.
fn reply(outcome: &Result<Outcome, Refusal>) -> Option<Json> {
    match outcome {
        Ok(Outcome::Executed(reply)) => match &reply.body {
            ReplyBody::Result(result) => Some(result.clone()),
            ReplyBody::Error(_) => None,
        },
        Ok(Outcome::Answered(result) | Outcome::Denied(result)) => Some(result.clone()),
        Ok(Outcome::Refused(_) | Outcome::Departed) | Err(_) => None,
    }
}

impl BehindReply {
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// A place in the queue; without one the event is lost, which is counted and told.
    fn place(&self, subscription: &Subscription) -> Option<tokio::sync::OwnedSemaphorePermit> {
        let place = self.places.clone().try_acquire_owned().ok();
        if place.is_none() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            tracing::error!(listener = subscription.name(), "no place for an after-call event: it is dropped");
        }
        place
    }

    /// The queue, whose one worker is started with the first event.
    fn sender(&self) -> mpsc::Sender<Event> {
        let start = || {
            let (sender, mut events) = mpsc::channel::<Event>(QUEUE as usize);
            tokio::spawn(async move {
                while let Some(event) = events.recv().await {
                    event.subscription.after_call(&event.report).await;
                }
            });
            sender
        };
        self.queue.get_or_init(start).clone()
    }

    /// Waits until all places are free again; those that are not when the time is over are dropped.
    pub(super) async fn drain(&self, end: tokio::time::Instant) {
        let all = self.places.clone().acquire_many_owned(QUEUE);
        if tokio::time::timeout_at(end, all).await.is_err() {
            let left = (QUEUE as usize).saturating_sub(self.places.available_permits());
            self.dropped.fetch_add(left as u64, Ordering::Relaxed);
            tracing::error!(left, "after-call events were not delivered in time: they are dropped");
        }
    }
}

impl Default for BehindReply {
    fn default() -> Self {
        Self {
            queue: std::sync::OnceLock::new(),
            places: Arc::new(Semaphore::new(QUEUE as usize)),
            dropped: Arc::default(),
        }
    }
}
