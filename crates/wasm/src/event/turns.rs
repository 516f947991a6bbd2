//! Who goes on when events of one listener take long: as many at once as leave a processor to the others.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::available_parallelism;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The turns of one listener.
#[derive(Clone, Debug)]
pub(super) struct Turns(Arc<Semaphore>);

impl Turns {
    pub(super) fn new() -> Self {
        let processors = available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Semaphore::new((processors / 2).max(1))))
    }
}

/// One event's turn, which it needs once the clock has found it running. Events that are over before that never wait for
/// one, so what a listener can take from its neighbours is one tick for each of its turns, however many of its events hang.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Turns,
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
}

impl Turn {
    pub(super) fn new(turns: Turns) -> Self {
        Self { turns, held: Arc::default() }
    }

    /// Gives way, and comes back when it is this event's turn.
    pub(super) fn wait(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        if self.held.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
            return Box::pin(tokio::task::yield_now());
        }
        let (turns, held) = (self.turns.0.clone(), self.held.clone());
        Box::pin(async move {
            tokio::task::yield_now().await;
            let turn = turns.acquire_owned().await.ok();
            *held.lock().unwrap_or_else(PoisonError::into_inner) = turn;
        })
    }

    /// Gives the turn back.
    pub(super) fn end(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn f2_events_that_take_long_take_turns() {
        let turns = Turns(Arc::new(Semaphore::new(1)));
        let (first, second) = (Turn::new(turns.clone()), Turn::new(turns));
        first.wait().await;
        first.wait().await;
        let waiting = tokio::spawn(second.wait());
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        first.end();
        waiting.await.unwrap();
        assert!(first.wait().now_or_never().is_none());
    }
}
