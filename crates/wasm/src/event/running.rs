//! An event under way: on the thread that asks at first, and in the slow lane when it takes long. One that may touch files has
//! threads of its listener's own.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use callgate_core::ToolRegistry;
use callgate_core::failure::ListenerFailure;
use futures_util::FutureExt;
use tokio::task::{JoinError, JoinSet};
use tracing::Instrument;
use tracing::instrument::WithSubscriber;

use crate::abi::v0_1::HookEvent;
use crate::lane::Lane;

use super::ahead::bury;
use super::instance::EventInstance;
use super::turns::Turn;
use super::{GRACE, Place, Served};

/// How an event ended, with the instance that had it.
type Ended<R> = (EventInstance, Result<R, ListenerFailure>);

/// An event, as something that can go on elsewhere.
// INVARIANT: the fields are dropped in this order. Whoever gets the place next finds that the instance has left the pool.
pub(super) struct Running<R> {
    course: Pin<Box<dyn Future<Output = Ended<R>> + Send>>,
    place: Place,
    served: Arc<Served>,
    turn: Turn,
    end: Instant,
}

impl<R: Send + 'static> Running<R> {
    /// Puts the question to an instance, for as long as the deadline says from now on.
    pub(super) fn begin<E: HookEvent<Reply = R> + Sync + 'static>(
        served: &Arc<Served>,
        place: Place,
        event: E,
        deadline: Duration,
        registry: Option<Arc<ToolRegistry>>,
    ) -> Self {
        let end = Instant::now() + deadline;
        let ready = served.supply.take(registry.as_ref().filter(|_| served.prepares_over_rows()));
        let mut instance = ready.unwrap_or_else(|| EventInstance::blank(served, registry.clone(), end));
        let turn = Turn::new(served.turns.clone());
        instance.take_turns(turn.clone());
        let asked = served.clone();
        let course = async move {
            let answer = AssertUnwindSafe(async {
                instance.prepare(&asked).await?;
                instance.begin(&asked, registry, end);
                instance.ask(&event).await
            });
            let outcome = tokio::time::timeout(deadline + GRACE, answer.catch_unwind()).await;
            let result = instance.judge(outcome, deadline);
            (instance, result)
        };
        Self { course: Box::pin(course), place, served: served.clone(), turn, end }
    }

    /// Runs the event to its end. Its instance is dropped behind the answer.
    pub(super) async fn end(mut self) -> Result<R, ListenerFailure> {
        if let Some(lane) = &self.served.clone().files {
            return self.elsewhere(lane).await;
        }
        if let Some((instance, result)) = self.on_this_thread().await {
            // What failed keeps its place until it is gone: a guest that takes all memory has only so many of them.
            if result.is_ok() {
                self.place.of_listener = None;
            }
            leave(&self.served.clone(), (instance, self.place));
            return result;
        }
        let Some(place) = self.served.slow_place(self.end).await else {
            leave(&self.served.clone(), self);
            return Err(ListenerFailure::Overload);
        };
        self.place = place;
        let sandbox = self.served.component.sandbox().clone();
        self.elsewhere(&sandbox.lane).await
    }

    /// The end of the event, unless it takes long.
    async fn on_this_thread(&mut self) -> Option<Ended<R>> {
        poll_fn(|context| {
            self.turn.resume();
            match self.course.as_mut().poll(context) {
                Poll::Ready(ended) => Poll::Ready(Some(ended)),
                Poll::Pending if self.turn.takes_long() => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }

    /// The end of the event, on other threads.
    async fn elsewhere(self, lane: &Lane) -> Result<R, ListenerFailure> {
        let Self { course, place, served, .. } = self;
        let event = async move {
            let (instance, result) = course.await;
            leave(&served, (instance, place));
            result
        };
        // Dropping the set ends the event, as dropping it on the first thread would.
        let mut elsewhere = JoinSet::new();
        // What is logged about the event belongs where the caller's lines go.
        let event = event.in_current_span().with_current_subscriber();
        elsewhere.spawn_on(event, lane.handle().ok_or(ListenerFailure::Overload)?);
        match elsewhere.join_next().await {
            Some(Ok(result)) => result,
            Some(Err(error)) if JoinError::is_panic(&error) => {
                Err(ListenerFailure::Panic("the event's task panicked".into()))
            }
            Some(Err(_)) | None => Err(ListenerFailure::Overload),
        }
    }
}

/// Has what is left of an event dropped behind the answer.
fn leave(served: &Arc<Served>, left: impl Send + 'static) {
    served.component.sandbox().keeper.leave(bury(left, served.clone()));
}
