//! Who goes on in the slow lane when events of one listener take long.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::lane::slow_threads;

/// The turns of one listener.
#[derive(Clone, Debug)]
pub(super) struct Turns(Arc<Semaphore>);

impl Turns {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(slow_threads())))
    }
}

/// One event's turn, which it needs once it takes long: then it goes on in the slow lane, where the events of one listener take
/// turns, so that those of another one have as much of the lane.
#[derive(Clone, Debug)]
pub(super) struct Turn(Arc<Taking>);

#[derive(Debug)]
struct Taking {
    turns: Turns,
    held: Mutex<Option<OwnedSemaphorePermit>>,
    begun: Instant,
    /// When it last got a thread to run on, in microseconds after it began.
    resumed: AtomicU64,
    long: AtomicBool,
    found_running: AtomicU32,
    kept_waiting: AtomicBool,
}

/// An event that the clock finds running after it has run on for that long takes long, and so does one that is found running
/// more than so often: a single tick can come right after the event began.
const SHORT: Duration = Duration::from_millis(5);
const FREE: u32 = 1;
/// For how many ticks a turn lasts. Among events that hang this is most of what the first of them has, so it misses its
/// deadline by itself, and its breaker learns of it.
const TURN: u32 = 8;
/// An event that was found running so often has had its chance, whoever was in its way.
const CHANCE: u32 = 5;

impl Turn {
    /// Of an event that begins now.
    pub(super) fn new(turns: Turns) -> Self {
        Self::since(turns, Instant::now())
    }

    fn since(turns: Turns, begun: Instant) -> Self {
        let [long, kept_waiting] = [AtomicBool::new(false), AtomicBool::new(false)];
        let (found_running, resumed) = (AtomicU32::new(0), AtomicU64::new(0));
        Self(Arc::new(Taking { turns, held: Mutex::default(), begun, resumed, long, found_running, kept_waiting }))
    }

    /// The event goes on, after others or a host call.
    pub(super) fn resume(&self) {
        self.0.resumed.store(self.age(), Ordering::Relaxed);
    }

    fn age(&self) -> u64 {
        u64::try_from(self.0.begun.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    fn has_run_on(&self) -> Duration {
        Duration::from_micros(self.age().saturating_sub(self.0.resumed.load(Ordering::Relaxed)))
    }

    /// Whether the event should no longer keep the host's own threads.
    pub(super) fn takes_long(&self) -> bool {
        self.0.long.load(Ordering::Relaxed)
    }

    /// Gives way, and comes back when it is this event's turn.
    pub(super) fn wait(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let before = self.0.found_running.fetch_add(1, Ordering::Relaxed);
        if !self.takes_long() && before < FREE && self.has_run_on() < SHORT {
            return Box::pin(tokio::task::yield_now());
        }
        self.0.long.store(true, Ordering::Relaxed);
        if before.is_multiple_of(TURN) {
            self.end();
        }
        if self.held().is_some() {
            return Box::pin(tokio::task::yield_now());
        }
        let this = self.clone();
        Box::pin(async move {
            // Gives the event the time to be moved to the slow lane.
            tokio::task::yield_now().await;
            let turns = this.0.turns.0.clone();
            if turns.available_permits() == 0 {
                this.0.kept_waiting.store(true, Ordering::Relaxed);
            }
            let turn = turns.acquire_owned().await.ok();
            *this.held() = turn;
        })
    }

    /// Whether other events of the listener were in its way. What it did not manage then says nothing about it.
    pub(super) fn was_kept_waiting(&self) -> bool {
        self.0.kept_waiting.load(Ordering::Relaxed) && self.0.found_running.load(Ordering::Relaxed) < CHANCE
    }

    fn held(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the turn back.
    pub(super) fn end(&self) {
        self.held().take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event that was found running when it was old enough.
    async fn long(turns: &Turns) -> Turn {
        let turn = Turn::since(turns.clone(), Instant::now() - SHORT);
        assert!(!turn.takes_long(), "nothing has found it running: it may wait for a host call");
        turn.wait().await;
        assert!(turn.takes_long());
        turn
    }

    #[tokio::test]
    async fn f2_events_that_take_long_take_turns() {
        let turns = Turns(Arc::new(Semaphore::new(1)));
        let first = long(&turns).await;
        for _ in 1..TURN {
            first.wait().await;
        }
        let second = Turn::since(turns.clone(), Instant::now() - SHORT);
        let waiting = tokio::spawn(second.wait());
        tokio::task::yield_now().await;
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
        // It is old, and others had the thread meanwhile.
        let short = Turn::since(turns.clone(), Instant::now() - Duration::from_secs(1));
        short.resume();
        short.wait().await;
        assert!(hanging.takes_long() && !short.takes_long() && !short.was_kept_waiting());
        // Once more is no accident.
        short.resume();
        drop(short.wait());
        assert!(short.takes_long());
    }
}
