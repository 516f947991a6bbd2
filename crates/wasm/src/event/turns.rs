//! Who goes on when events of one listener take long: as many at once as leave a processor to the others.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
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

/// One event's turn. It needs one once the clock has found it running too often, and only for one tick: then it is the next
/// one's turn. Events that are over before that never wait, so what a listener can take from its neighbours is one tick for
/// each of its turns, however many of its events hang.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Turns,
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
    found_running: AtomicU32,
}

/// How often an event is found running and needs no turn. A tick can come right after the event began, and another one when
/// the machine did something else meanwhile: that is no reason to wait behind those that hang.
const FREE: u32 = 2;

impl Turn {
    pub(super) fn new(turns: Turns) -> Self {
        Self { turns, held: Arc::default(), found_running: AtomicU32::new(0) }
    }

    /// Gives way, and comes back when it is this event's turn.
    pub(super) fn wait(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        // Whoever waits has been promised the turn by this, so an event that hangs does not keep it.
        self.end();
        if self.found_running.fetch_add(1, Ordering::Relaxed) < FREE {
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

    /// An event that has had what is free.
    async fn long(turns: &Turns) -> Turn {
        let turn = Turn::new(turns.clone());
        for _ in 0..FREE {
            turn.wait().await;
        }
        turn
    }

    #[tokio::test]
    async fn f2_events_that_take_long_take_turns() {
        let turns = Turns(Arc::new(Semaphore::new(1)));
        let (first, second) = (long(&turns).await, long(&turns).await);
        first.wait().await;
        let waiting = tokio::spawn(second.wait());
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "it is the first one's turn");
        // Found running again, the first one waits behind the second, which keeps the turn until it is found or over.
        let again = tokio::spawn(first.wait());
        waiting.await.unwrap();
        tokio::task::yield_now().await;
        assert!(!again.is_finished());
        second.end();
        again.await.unwrap();
    }

    #[tokio::test]
    async fn f2_an_event_that_a_tick_happens_to_meet_does_not_wait_behind_those_that_hang() {
        let turns = Turns(Arc::new(Semaphore::new(1)));
        let hanging = long(&turns).await;
        hanging.wait().await;
        let short = Turn::new(turns.clone());
        for _ in 0..FREE {
            short.wait().await;
        }
        let waits = short.wait();
        tokio::pin!(waits);
        assert!((&mut waits).now_or_never().is_none() && waits.now_or_never().is_none());
    }
}
