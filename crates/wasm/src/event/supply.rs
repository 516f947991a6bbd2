//! The instances of one listener that were made ahead of the events that they are for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use callgate_core::ToolRegistry;
use tokio::sync::{Notify, OwnedSemaphorePermit};

use super::instance::EventInstance;

/// How long nothing is made ahead after that failed, at first and at most.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

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
}

impl Supply {
    fn stock(&self) -> MutexGuard<'_, Stock> {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One that is ready.
    pub(super) fn take(&self) -> Option<EventInstance> {
        let mut stock = self.stock();
        let ready = stock.ready.pop();
        stock.short |= ready.is_none();
        ready.map(|ready| ready.instance)
    }

    /// Has instances prepare themselves with these rows from now on, and forgets those that know others.
    pub(super) fn adopt(&self, registry: &Arc<ToolRegistry>) {
        let mut stock = self.stock();
        if stock.registry.as_ref().is_none_or(|known| !Arc::ptr_eq(known, registry)) {
            stock.registry = Some(registry.clone());
            let outdated = std::mem::take(&mut stock.ready);
            drop(stock);
            drop(outdated);
        }
    }

    /// Leave to make one more, if there are not so many yet.
    pub(super) fn order(&self, wanted: usize, needs_registry: bool, now: Instant) -> Option<Order> {
        let mut stock = self.stock();
        let enough = stock.ready.len().saturating_add(stock.making) >= wanted;
        let paused = stock.failed.is_some_and(|failed| now < failed.until);
        stock.short &= !enough;
        if enough || paused || (needs_registry && stock.registry.is_none()) {
            return None;
        }
        stock.making += 1;
        Some(Order { registry: stock.registry.clone(), rehearse: !stock.without_rehearsal && !stock.short })
    }

    /// Takes in what was made.
    pub(super) fn deliver(&self, order: &Order, instance: EventInstance, share: OwnedSemaphorePermit) {
        let mut stock = self.stock();
        stock.making = stock.making.saturating_sub(1);
        stock.failed = None;
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
