//! One event: an instance that has seen no other, a deadline, and a failure for everything that goes wrong.

mod instance;
mod supply;
mod state;
mod turns;
mod failure;

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_core::ToolRegistry;
use callgate_core::failure::ListenerFailure;
use callgate_core::listener::Hooks;
use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::abi::v0_1::HookEvent;
use crate::capabilities::Grants;
use crate::component::LoadedComponent;
use crate::limits::SandboxLimits;

use failure::Fault;
use supply::{Order, Supply};
use turns::Turns;

pub(crate) use instance::EventInstance;
pub(crate) use state::{EventState, Stage};

/// How much longer than its deadline an event may take to notice that the deadline has passed.
const GRACE: Duration = Duration::from_millis(20);
/// How many events of one listener may wait for a place. More would only wait to fail.
const WAITING: usize = 1_024;

/// Runs the events of one listener.
#[derive(Debug)]
pub(crate) struct EventRunner {
    served: Arc<Served>,
}

/// What all events of one listener share.
pub(crate) struct Served {
    component: Arc<LoadedComponent>,
    grants: Grants,
    limits: SandboxLimits,
    used: Hooks,
    places: Arc<Semaphore>,
    waiting: Semaphore,
    turns: Turns,
    supply: Supply,
}

/// An event's place among those that run at the same time.
struct Place {
    _own: OwnedSemaphorePermit,
    _of_sandbox: OwnedSemaphorePermit,
}

impl EventRunner {
    pub(crate) fn new(component: Arc<LoadedComponent>, grants: Grants, limits: SandboxLimits, used: Hooks) -> Self {
        // What a guest does to a folder is seen by everybody, so it does it in an event and not ahead of one.
        let ready = if grants.touches_outside() { 0 } else { limits.ready };
        let limits = SandboxLimits { ready, ..limits };
        let places = Arc::new(Semaphore::new(limits.concurrency.min(Semaphore::MAX_PERMITS)));
        let (waiting, turns, supply) = (Semaphore::new(WAITING), Turns::new(), Supply::default());
        let served = Arc::new(Served { component, grants, limits, used, places, waiting, turns, supply });
        served.component.sandbox().keeper.leave(refill(served.clone()));
        Self { served }
    }

    pub(crate) fn component(&self) -> &Arc<LoadedComponent> {
        &self.served.component
    }

    pub(crate) fn limits(&self) -> &SandboxLimits {
        &self.served.limits
    }

    /// Waits until as many instances are ready as there may be.
    pub(crate) async fn filled(&self) {
        self.served.supply.filled(self.served.limits.ready).await;
    }

    /// An instance that no event is put to, made like those that are made ahead.
    pub(crate) async fn spare(&self, deadline: Duration) -> Result<EventInstance, ListenerFailure> {
        let order = Order { registry: None, rehearse: true };
        let made = ahead(&self.served, &order, deadline).await;
        let mut instance = made.map_err(Unready::into_failure)?;
        instance.begin(&self.served, None, Instant::now() + deadline);
        Ok(instance)
    }

    /// Puts one question to an instance that has seen no other, for as long as the deadline says.
    pub(crate) async fn run<E: HookEvent + Sync>(
        &self,
        event: &E,
        deadline: Duration,
        registry: Option<Arc<ToolRegistry>>,
    ) -> Result<E::Reply, ListenerFailure> {
        let served = &self.served;
        let sandbox = served.component.sandbox();
        if !sandbox.engine.heartbeat.is_alive(Instant::now()) {
            return Err(ListenerFailure::Instantiation("the clock that keeps deadlines has stopped".into()));
        }
        let place = served.place(deadline).await?;
        if let Some(registry) = registry.as_ref().filter(|_| served.prepares_over_rows()) {
            served.supply.adopt(registry);
        }
        let end = Instant::now() + deadline;
        let ready = served.supply.take();
        let mut instance = ready.unwrap_or_else(|| EventInstance::blank(served, registry.clone(), end));
        let answer = AssertUnwindSafe(async {
            instance.prepare(served).await?;
            instance.begin(served, registry, end);
            instance.ask(event).await
        });
        let outcome = tokio::time::timeout(deadline + GRACE, answer.catch_unwind()).await;
        let state = instance.state();
        state.end_turn();
        let result = match Fault::from_outcome(outcome) {
            Ok(reply) => {
                state.tell_output();
                Ok(reply)
            }
            Err(fault) => match failure::classify(fault, deadline, &state.output(), state.meter.refused()) {
                // Another caller's events must not count as this one's failures.
                ListenerFailure::Deadline(_) if state.was_kept_waiting() => Err(ListenerFailure::Overload),
                failure => Err(failure),
            },
        };
        sandbox.keeper.leave(bury(instance, place, served.clone()));
        result
    }
}

impl Served {
    /// A place to run, as soon as there is one.
    async fn place(&self, deadline: Duration) -> Result<Place, ListenerFailure> {
        let of_sandbox = &self.component.sandbox().places;
        if let (Ok(own), Ok(all)) = (self.places.clone().try_acquire_owned(), of_sandbox.clone().try_acquire_owned()) {
            return Ok(Place { _own: own, _of_sandbox: all });
        }
        let _waiting = self.waiting.try_acquire().map_err(|_| ListenerFailure::Overload)?;
        let place = async {
            // A listener that fills its own places waits for itself and not in front of the others.
            let own = self.places.clone().acquire_owned().await.ok()?;
            Some(Place { _own: own, _of_sandbox: of_sandbox.clone().acquire_owned().await.ok()? })
        };
        tokio::time::timeout(deadline, place).await.ok().flatten().ok_or(ListenerFailure::Overload)
    }

    /// Whether what instances make of themselves depends on the rows.
    fn prepares_over_rows(&self) -> bool {
        self.used.grant && self.component.hooks().has_prepare()
    }
}

/// Drops an instance that had its event, which gives its place to another, and makes new ones.
async fn bury(instance: EventInstance, place: Place, served: Arc<Served>) {
    drop(instance);
    drop(place);
    refill(served).await;
}

/// Makes instances ahead, as many as are missing.
async fn refill(served: Arc<Served>) {
    let sandbox = served.component.sandbox();
    let needs_registry = served.prepares_over_rows();
    while let Some(order) = served.supply.order(served.limits.ready, needs_registry, Instant::now()) {
        let Ok(share) = sandbox.shares.clone().try_acquire_owned() else { return served.supply.cancel() };
        match ahead(&served, &order, served.limits.preparation_deadline).await {
            Ok(instance) => served.supply.deliver(&order, instance, share),
            Err(Unready::Preparation(failure)) => return served.tell_of_preparation(&failure),
            Err(Unready::Rehearsal(failure)) => served.tell_of_rehearsal(&failure),
        }
    }
}

/// Why there is no instance.
#[derive(Debug)]
enum Unready {
    /// It could not be created, or failed to prepare itself. An event would meet the same.
    Preparation(ListenerFailure),
    /// It failed over a made-up event.
    Rehearsal(ListenerFailure),
}

impl Unready {
    fn into_failure(self) -> ListenerFailure {
        let (Self::Preparation(failure) | Self::Rehearsal(failure)) = self;
        failure
    }
}

/// An instance that prepared itself and has had its rehearsals.
async fn ahead(served: &Served, order: &Order, deadline: Duration) -> Result<EventInstance, Unready> {
    let mut instance = EventInstance::blank(served, order.registry.clone(), Instant::now() + deadline);
    let made = AssertUnwindSafe(async {
        instance.prepare(served).await?;
        if order.rehearse { instance.rehearse(served).await } else { Ok(()) }
    });
    let outcome = tokio::time::timeout(deadline + GRACE, made.catch_unwind()).await;
    let Err(fault) = Fault::from_outcome(outcome) else { return Ok(instance) };
    let state = instance.state();
    let failure = failure::classify(fault, deadline, &state.output(), state.meter.refused());
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

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("listener", &self.grants.listener).finish_non_exhaustive()
    }
}
