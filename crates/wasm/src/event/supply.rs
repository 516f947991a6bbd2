//! The instances of one listener that were made ahead of the events that they are for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use callgate_core::ToolRegistry;
use tokio::sync::{Notify, OwnedSemaphorePermit};

use super::instance::EventInstance;

/// How long nothing is made ahead after that failed, at first and at most.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// An instance that takes longer than that to make ahead is followed by a rest of so many times as long: the thread that makes
/// them is there for all listeners.
const CHEAP: Duration = Duration::from_millis(20);
const REST: u32 = 20;

/// The instances of one listener that wait for an event.
#[derive(Default)]
pub(crate) struct Supply {
    stock: Mutex<Stock>,
    arrived: Notify,
}

#[derive(Default)]
struct Stock {
    // The last is taken first: its memory is the likeliest to be in the processor's caches.
    ready: Vec<Ready>,
    /// How many are being made.
    making: usize,
    /// The rows that instances prepare themselves with; none until the first decision about a caller.
    registry: Option<Arc<ToolRegistry>>,
    failed: Option<Failed>,
    /// Nothing is made before that moment, because the last one took long.
    rest: Option<Instant>,
    without_rehearsal: bool,
    /// An event found none, and there were not enough since. What a rehearsal costs is then better spent on the next event.
    short: bool,
}

/// An instance, and its share of what the sandbox keeps ready for all listeners.
struct Ready {
    instance: EventInstance,
    _share: OwnedSemaphorePermit,
}

/// The last instance could not be made ahead.
#[derive(Clone, Copy)]
struct Failed {
    until: Instant,
    pause: Duration,
}

/// Leave to make one instance ahead.
pub(super) struct Order {
    pub(super) registry: Option<Arc<ToolRegistry>>,
    pub(super) rehearse: bool,
    pub(super) given: Instant,
}

impl Supply {
    fn stock(&self) -> MutexGuard<'_, Stock> {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that is ready. Where instances prepare themselves with rows, only one that knows these: from now on they are made
    /// for these, and those that know others are forgotten.
    pub(super) fn take(&self, registry: Option<&Arc<ToolRegistry>>) -> Option<EventInstance> {
        let mut stock = self.stock();
        let known = |known: &Arc<ToolRegistry>| registry.is_none_or(|registry| Arc::ptr_eq(known, registry));
        let mut outdated = Vec::new();
        if let Some(registry) = registry.filter(|_| !stock.registry.as_ref().is_some_and(known)) {
            stock.registry = Some(registry.clone());
            outdated = std::mem::take(&mut stock.ready);
        }
        let ready = stock.ready.pop();
        stock.short |= ready.is_none();
        drop(stock);
        drop(outdated);
        ready.map(|ready| ready.instance)
    }

    /// Leave to make one more, if there are not so many yet.
    pub(super) fn order(&self, wanted: usize, needs_registry: bool, now: Instant) -> Option<Order> {
        let mut stock = self.stock();
        let enough = stock.ready.len().saturating_add(stock.making) >= wanted;
        let paused = stock.failed.is_some_and(|failed| now < failed.until) || stock.rest.is_some_and(|rest| now < rest);
        stock.short &= !enough;
        if enough || paused || (needs_registry && stock.registry.is_none()) {
            return None;
        }
        stock.making += 1;
        let rehearse = !stock.without_rehearsal && !stock.short;
        Some(Order { registry: stock.registry.clone(), rehearse, given: now })
    }

    /// Takes in what was made.
    pub(super) fn deliver(&self, order: &Order, instance: EventInstance, share: OwnedSemaphorePermit) {
        let mut stock = self.stock();
        stock.making = stock.making.saturating_sub(1);
        stock.failed = None;
        let (now, took) = (Instant::now(), order.given.elapsed());
        stock.rest = (took > CHEAP).then(|| now + took * REST);
        let current = match (&order.registry, &stock.registry) {
            (Some(prepared), Some(known)) => Arc::ptr_eq(prepared, known),
            (prepared, known) => prepared.is_none() && known.is_none(),
        };
        if current {
            stock.ready.push(Ready { instance, _share: share });
        }
        drop(stock);
        self.arrived.notify_waiters();
    }

    /// How long nothing is to be made from now on, because the last one took long.
    pub(super) fn rest(&self, now: Instant) -> Option<Duration> {
        self.stock().rest.map(|rest| rest.saturating_duration_since(now)).filter(|rest| !rest.is_zero())
    }

    /// Nothing came of an order: there was no room.
    pub(super) fn cancel(&self) {
        let mut stock = self.stock();
        stock.making = stock.making.saturating_sub(1);
    }

    /// Nothing came of an order: the instance failed. Tells whether that is news.
    pub(super) fn fail(&self, now: Instant) -> bool {
        let mut stock = self.stock();
        stock.making = stock.making.saturating_sub(1);
        let first = stock.failed.is_none();
        let pause = stock.failed.map_or(PAUSE, |failed| (failed.pause * 2).min(LONGEST_PAUSE));
        stock.failed = Some(Failed { until: now + pause, pause });
        first
    }

    /// A made-up event failed where a real one may not: none is tried from now on. Tells whether that is news.
    pub(super) fn stop_rehearsing(&self) -> bool {
        let mut stock = self.stock();
        stock.making = stock.making.saturating_sub(1);
        !std::mem::replace(&mut stock.without_rehearsal, true)
    }

    /// Waits until there are so many.
    pub(super) async fn filled(&self, wanted: usize) {
        loop {
            let arrived = self.arrived.notified();
            tokio::pin!(arrived);
            arrived.as_mut().enable();
            if self.stock().ready.len() >= wanted {
                return;
            }
            arrived.await;
        }
    }
}
