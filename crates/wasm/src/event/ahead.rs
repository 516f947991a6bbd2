//! What the keeper does for a listener: it drops instances that had their event and makes others ahead of theirs.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_core::failure::ListenerFailure;
use futures_util::FutureExt;

use super::failure::Fault;
use super::instance::EventInstance;
use super::supply::Order;
use super::{GRACE, Served};

/// Drops what is left of an event, which gives its place to another, and makes new instances.
pub(super) async fn bury(left: impl Send, served: Arc<Served>) {
    drop(left);
    refill(served).await;
}

/// Makes instances ahead, as many as are missing.
pub(super) async fn refill(mut served: Arc<Served>) {
    let needs_registry = served.prepares_over_rows();
    while let Some(order) = served.supply.order(served.limits.ready, needs_registry, Instant::now()) {
        let shares = served.component.sandbox().shares.clone();
        let Ok(share) = shares.try_acquire_owned() else { return served.supply.cancel() };
        match ahead(&served, &order, served.limits.preparation_deadline).await {
            Ok(instance) => served.supply.deliver(&order, instance, share),
            Err(Unready::Preparation(failure)) => return served.tell_of_preparation(&failure),
            Err(Unready::Rehearsal(failure)) => served.tell_of_rehearsal(&failure),
        }
        if let Some(rest) = served.supply.rest(Instant::now()) {
            // Nobody else comes back for the missing ones, and a listener that goes meanwhile is not held.
            let waiting = Arc::downgrade(&served);
            drop(served);
            tokio::time::sleep(rest).await;
            let Some(again) = waiting.upgrade() else { return };
            served = again;
        }
    }
}

/// Why there is no instance.
#[derive(Debug)]
pub(super) enum Unready {
    /// It could not be created, or failed to prepare itself. An event would meet the same.
    Preparation(ListenerFailure),
    /// It failed over a made-up event.
    Rehearsal(ListenerFailure),
}

impl Unready {
    pub(super) fn into_failure(self) -> ListenerFailure {
        let (Self::Preparation(failure) | Self::Rehearsal(failure)) = self;
        failure
    }
}

/// An instance that prepared itself and has had its rehearsals.
pub(super) async fn ahead(served: &Served, order: &Order, deadline: Duration) -> Result<EventInstance, Unready> {
    let mut instance = EventInstance::blank(served, order.registry.clone(), Instant::now() + deadline);
    let made = AssertUnwindSafe(async {
        instance.prepare(served).await?;
        if order.rehearse { instance.rehearse(served).await } else { Ok(()) }
    });
    let outcome = tokio::time::timeout(deadline + GRACE, made.catch_unwind()).await;
    let Err(fault) = Fault::from_outcome(outcome) else { return Ok(instance) };
    let failure = instance.failure(fault, deadline);
    Err(if instance.is_prepared() { Unready::Rehearsal(failure) } else { Unready::Preparation(failure) })
}

impl Served {
    /// Says so, once, and waits before the next attempt. Events go on making instances of their own, and fail by themselves.
    fn tell_of_preparation(&self, failure: &ListenerFailure) {
        if self.supply.fail(Instant::now()) {
            let listener = &*self.grants.listener;
            tracing::warn!(listener, kind = failure.kind(), %failure, "no instance can be made ahead of its event");
        }
    }

    /// Says so, once. A made-up event may fail where a real one would not, so there are no more of them.
    fn tell_of_rehearsal(&self, failure: &ListenerFailure) {
        if self.supply.stop_rehearsing() {
            let listener = &*self.grants.listener;
            tracing::warn!(listener, kind = failure.kind(), %failure, "a rehearsal failed: there will be no more of them");
        }
    }
}
