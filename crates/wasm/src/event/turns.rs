//! Who goes on in the slow lane when events of one listener take long.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::lane::{processor_time, slow_threads};

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
    /// The processor time of its thread when it last got it, in microseconds.
    resumed: AtomicU64,
    /// The processor time that it has had in those stretches at whose end the clock found it running, in microseconds.
    ran: AtomicU64,
    long: AtomicBool,
    found_running: AtomicU32,
    kept_waiting: AtomicBool,
}

/// An event that the clock finds running when it has had so much of a processor takes long. What it waited for one does not
/// count: on a busy machine every event would take long.
const SHORT: Duration = Duration::from_millis(5);
/// For how many ticks a turn lasts. Among events that hang this is most of what the first of them has, so it misses its
/// deadline by itself, and its breaker learns of it.
const TURN: u32 = 8;
/// An event that was found running so often has had its chance, whoever was in its way.
const CHANCE: u32 = 5;

impl Turn {
    /// Of an event that begins now.
    pub(super) fn new(turns: Turns) -> Self {
        Self(Arc::new(Taking {
            turns,
            held: Mutex::default(),
            resumed: AtomicU64::new(processor_time()),
            ran: AtomicU64::new(0),
            long: AtomicBool::new(false),
            found_running: AtomicU32::new(0),
            kept_waiting: AtomicBool::new(false),
        }))
    }

    /// The event goes on, after others or a host call.
    pub(super) fn resume(&self) {
        self.0.resumed.store(processor_time(), Ordering::Relaxed);
    }

    /// How much of a processor it has had, now that the clock finds it running.
    fn ran(&self) -> Duration {
        let on = processor_time().saturating_sub(self.0.resumed.load(Ordering::Relaxed));
        Duration::from_micros(self.0.ran.fetch_add(on, Ordering::Relaxed).saturating_add(on))
    }

    /// Whether the event should no longer keep the host's own threads.
    pub(super) fn takes_long(&self) -> bool {
        self.0.long.load(Ordering::Relaxed)
    }

    /// Gives way, and comes back when it is this event's turn.
    pub(super) fn wait(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let before = self.0.found_running.fetch_add(1, Ordering::Relaxed);
        if !self.takes_long() && self.ran() < SHORT {
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

    /// An event that has had that of a processor.
    fn after(turns: &Turns, ran: Duration) -> Turn {
        let turn = Turn::new(turns.clone());
        turn.0.ran.store(u64::try_from(ran.as_micros()).unwrap(), Ordering::Relaxed);
        turn
    }

    /// An event that was found running when it had had enough.
    async fn long(turns: &Turns) -> Turn {
        let turn = after(turns, SHORT);
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
        let second = after(&turns, SHORT);
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
    async fn f2_an_event_that_waits_for_a_processor_does_not_take_long() {
        let turns = Turns(Arc::new(Semaphore::new(1)));
        let hanging = long(&turns).await;
        let short = Turn::new(turns.clone());
        // The clock finds it running as often as it likes: it has hardly run.
        for _ in 0..TURN {
            short.resume();
            short.wait().await;
        }
        assert!(hanging.takes_long() && !short.takes_long() && !short.was_kept_waiting());
    }

    #[tokio::test]
    async fn f2_what_an_event_runs_adds_up() {
        let turns = Turns(Arc::new(Semaphore::new(1)));
        let busy = Turn::new(turns.clone());
        let mut stretches = 0;
        while !busy.takes_long() {
            busy.resume();
            let end = processor_time() + 1_000;
            while processor_time() < end {}
            busy.wait().await;
            stretches += 1;
        }
        assert!((2..=5).contains(&stretches), "{stretches}");
    }
}
