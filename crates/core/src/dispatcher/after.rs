//! The after-call event: its place reserved when the call is accepted, and used exactly once (A1).

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Instant;

use crate::json::Json;
use crate::report::{CallReport, Dispatch, Ending, Step};
use crate::request::ToolCallContext;
use crate::rules::RuleSet;
use crate::subscription::{Delivery, Subscription};
use crate::tool::ReplyBody;

use super::{Outcome, Refusal};

/// How many events may wait for one listener behind the answer.
const QUEUE: u32 = 1_024;

/// The queues of listeners that are told behind the answer, by the listener's name: one that is slow holds up nobody else.
#[derive(Debug, Default)]
pub(super) struct BehindReply {
    queues: Mutex<HashMap<String, Queue>>,
    dropped: AtomicU64,
}

/// The events that wait for one listener, and the worker that delivers them one after the other.
#[derive(Clone, Debug)]
struct Queue {
    events: mpsc::Sender<Event>,
    places: Arc<Semaphore>,
}

/// A place in a queue, held from the moment in which the call is accepted.
#[derive(Debug)]
struct Place {
    queue: Queue,
    permit: OwnedSemaphorePermit,
}

#[derive(Debug)]
struct Event {
    subscription: Arc<Subscription>,
    report: Arc<CallReport>,
    _permit: OwnedSemaphorePermit,
}

/// The after-call event of one accepted call.
#[must_use = "a call that is not told about is missing in every record"]
#[derive(Debug)]
pub(super) struct Afterwards {
    call: Arc<ToolCallContext>,
    now: Vec<Arc<Subscription>>,
    behind: Vec<(Arc<Subscription>, Place)>,
    steps: Vec<Step>,
    dispatch: Dispatch,
    duration: Duration,
}

impl Afterwards {
    /// Reserves the place of a call's event with every after-call listener.
    pub(super) fn reserve(queues: &BehindReply, rules: &RuleSet, call: Arc<ToolCallContext>, steps: &[Step]) -> Self {
        let listeners = rules.listeners.iter().filter(|it| it.hooks().after_call).cloned();
        let (now, behind): (Vec<_>, Vec<_>) = listeners.partition(|it| it.delivery() == Delivery::BeforeReply);
        let behind = behind.into_iter().filter_map(|it| queues.place(&it).map(|place| (it, place))).collect();
        Self { call, now, behind, steps: steps.to_vec(), dispatch: Dispatch::None, duration: Duration::ZERO }
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
        for (subscription, Place { queue, permit }) in self.behind {
            // There is a place for it, so this fails only when the worker is gone with its runtime.
            let _ = queue.events.try_send(Event { subscription, report: report.clone(), _permit: permit });
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

    /// A place in the listener's queue; without one the event is lost, which is counted and told.
    fn place(&self, subscription: &Subscription) -> Option<Place> {
        let queue = {
            let mut queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner);
            queues.entry(subscription.name().to_owned()).or_insert_with(Queue::start).clone()
        };
        let permit = queue.places.clone().try_acquire_owned().ok();
        if permit.is_none() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            tracing::error!(listener = subscription.name(), "no place for an after-call event: it is dropped");
        }
        permit.map(|permit| Place { queue, permit })
    }

    /// Waits until every queue is empty; what is left when the time is over is dropped.
    pub(super) async fn drain(&self, end: Instant) {
        let queues = self.queues.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (listener, Queue { places, .. }) in queues {
            if tokio::time::timeout_at(end, places.acquire_many(QUEUE)).await.is_err() {
                let left = (QUEUE as usize).saturating_sub(places.available_permits());
                self.dropped.fetch_add(left as u64, Ordering::Relaxed);
                tracing::error!(listener, left, "after-call events were not delivered in time: they are dropped");
            }
        }
    }
}

impl Queue {
    fn start() -> Self {
        let (events, mut waiting) = mpsc::channel::<Event>(QUEUE as usize);
        tokio::spawn(async move {
            while let Some(event) = waiting.recv().await {
                event.subscription.after_call(&event.report).await;
            }
        });
        Self { events, places: Arc::new(Semaphore::new(QUEUE as usize)) }
    }
}
