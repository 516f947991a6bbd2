//! An event under way: on the thread that asks at first, and in the slow lane when it takes long.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use callgate_core::ToolRegistry;
use callgate_core::failure::ListenerFailure;
use futures_util::FutureExt;
use tokio::task::JoinSet;

use crate::abi::v0_1::HookEvent;

use super::instance::EventInstance;
use super::turns::Turn;
use super::{GRACE, Served, ahead::bury};

/// How an event ended, with the instance that had it.
type Ended<R> = (EventInstance, Result<R, ListenerFailure>);

/// An event, as something that can go on elsewhere.
pub(super) struct Running<R> {
    course: Pin<Box<dyn Future<Output = Ended<R>> + Send>>,
    turn: Turn,
}

impl<R: Send + 'static> Running<R> {
    /// Puts the question to the instance, for as long as the deadline says from now on.
    pub(super) fn begin<E: HookEvent<Reply = R> + Sync + 'static>(
        served: &Arc<Served>,
        event: E,
        deadline: Duration,
        registry: Option<Arc<ToolRegistry>>,
    ) -> Self {
        let end = Instant::now() + deadline;
        let ready = served.supply.take();
        let mut instance = ready.unwrap_or_else(|| EventInstance::blank(served, registry.clone(), end));
        let turn = Turn::new(served.turns.clone());
        instance.take_turns(turn.clone());
        let served = served.clone();
        let course = async move {
            let answer = AssertUnwindSafe(async {
                instance.prepare(&served).await?;
                instance.begin(&served, registry, end);
                instance.ask(&event).await
            });
            let outcome = tokio::time::timeout(deadline + GRACE, answer.catch_unwind()).await;
            let result = instance.judge(outcome, deadline);
            (instance, result)
        };
        Self { course: Box::pin(course), turn }
    }

    /// Runs the event to its end. Behind the answer, its instance is dropped.
    pub(super) async fn end<P: Send + 'static>(mut self, served: &Arc<Served>, place: P) -> Result<R, ListenerFailure> {
        let keeper = &served.component.sandbox().keeper;
        if let Some((instance, result)) = self.on_this_thread().await {
            keeper.leave(bury(instance, place, served.clone()));
            return result;
        }
        let lane = served.component.sandbox().lane.handle().zip(served.slow_place());
        let Some((lane, slow_place)) = lane else {
            keeper.leave(bury(self, place, served.clone()));
            return Err(ListenerFailure::Overload);
        };
        drop(place);
        let buried = served.clone();
        // Dropping the set ends the event, as dropping it on this thread would.
        let mut elsewhere = JoinSet::new();
        elsewhere.spawn_on(
            async move {
                let (instance, result) = self.course.await;
                buried.component.sandbox().keeper.leave(bury(instance, slow_place, buried.clone()));
                result
            },
            lane,
        );
        elsewhere.join_next().await.and_then(Result::ok).unwrap_or(Err(ListenerFailure::Overload))
    }

    /// The end of the event, unless it takes long.
    async fn on_this_thread(&mut self) -> Option<Ended<R>> {
        poll_fn(|context| match self.course.as_mut().poll(context) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            Poll::Pending if self.turn.takes_long() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await
    }
}
