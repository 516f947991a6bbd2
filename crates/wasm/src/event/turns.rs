//! Who goes on when events of one listener take long: as many at once as leave a processor to the others.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
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

/// One event's turn, which it needs once the clock has found it running too often. Events that are over before that never
/// wait, so what a listener can take from its neighbours is one tick for each of its turns, however many of its events hang.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Turns,
    held: Arc<Mutex<Option<OwnedSemaphorePermit>>>,
    found_running: AtomicU32,
    kept_waiting: AtomicBool,
}

/// How often an event is found running and needs no turn. A tick can come right after the event began, and another one when
/// the machine did something else meanwhile: that is no reason to wait behind those that hang.
const FREE: u32 = 2;
/// For how many ticks a turn lasts. Among events that hang this is most of what the first of them has, so it misses its
/// deadline by itself, and its breaker learns of it.
const TURN: u32 = 8;
/// An event that was found running so often has had its chance, whoever was in its way.
const CHANCE: u32 = 5;

impl Turn {
    pub(super) fn new(turns: Turns) -> Self {
        Self { turns, held: Arc::default(), found_running: AtomicU32::new(0), kept_waiting: AtomicBool::new(false) }
    }

    /// Gives way, and comes back when it is this event's turn.
    pub(super) fn wait(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let before = self.found_running.fetch_add(1, Ordering::Relaxed);
        if before.is_multiple_of(TURN) {
            self.end();
        }
        if before < FREE || self.holds() {
            return Box::pin(tokio::task::yield_now());
        }
        let (turns, held) = (self.turns.0.clone(), self.held.clone());
        if turns.available_permits() == 0 {
            self.kept_waiting.store(true, Ordering::Relaxed);
        }
        Box::pin(async move {
            tokio::task::yield_now().await;
            let turn = turns.acquire_owned().await.ok();
            *held.lock().unwrap_or_else(PoisonError::into_inner) = turn;
        })
    }

    /// Whether other events of the listener were in its way. What it did not manage then says nothing about it.
    pub(super) fn was_kept_waiting(&self) -> bool {
        self.kept_waiting.load(Ordering::Relaxed) && self.found_running.load(Ordering::Relaxed) < CHANCE
    }

    fn holds(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).is_some()
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
        for _ in FREE..TURN {
            first.wait().await;
        }
        let waiting = tokio::spawn(second.wait());
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished(), "it is the first one's turn");
        assert!(second.was_kept_waiting() && !first.was_kept_waiting());
        // The first one's turn has lasted as long as turns do, so it waits behind the second.
        let again = tokio::spawn(first.wait());
        waiting.await.unwrap();
        tokio::task::yield_now().await;
        assert!(!again.is_finished());
        assert!(!first.was_kept_waiting(), "it has had its chance");
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
