//! The clock that wakes guests so that their deadlines can be looked at.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use wasmtime::Engine;

/// How often a running guest is woken.
const TICK: Duration = Duration::from_millis(5);
/// A clock that was not seen for so long has stopped.
const STOPPED: Duration = Duration::from_secs(1);

/// When the clock last ticked.
#[derive(Clone, Debug)]
pub(crate) struct Heartbeat {
    start: Instant,
    last: Arc<AtomicU64>,
}

impl Heartbeat {
    fn new() -> Self {
        Self { start: Instant::now(), last: Arc::new(AtomicU64::new(0)) }
    }

    fn beat(&self, now: Instant) {
        let millis = now.saturating_duration_since(self.start).as_millis();
        self.last.store(u64::try_from(millis).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether deadlines are being kept. If not, no guest may start: nothing would ever stop it.
    pub(crate) fn is_alive(&self, now: Instant) -> bool {
        let last = Duration::from_millis(self.last.load(Ordering::Relaxed));
        now.saturating_duration_since(self.start).saturating_sub(last) < STOPPED
    }
}

/// Starts the clock on a thread of its own: a task of an async runtime would stand still exactly when a guest occupies its
/// worker. The thread ends when the engine is gone.
pub(super) fn start(engine: &Engine) -> io::Result<Heartbeat> {
    let heartbeat = Heartbeat::new();
    let beat = heartbeat.clone();
    let engine = engine.weak();
    #[allow(clippy::disallowed_methods, reason = "to sleep between two ticks is all that this thread is for")]
    let tick = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            beat.beat(Instant::now());
            drop(engine);
            thread::sleep(TICK);
        }
    };
    thread::Builder::new().name("callgate-ticker".into()).spawn(tick)?;
    Ok(heartbeat)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_a_clock_that_has_stopped_is_noticed() {
        let heartbeat = Heartbeat::new();
        let start = heartbeat.start;
        heartbeat.beat(start + Duration::from_secs(5));
        assert!(heartbeat.is_alive(start + Duration::from_millis(5_999)));
        assert!(!heartbeat.is_alive(start + Duration::from_millis(6_000)));
    }
}
