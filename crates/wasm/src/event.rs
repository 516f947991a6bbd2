//! One event: an instance that has seen no other, a deadline, and a failure for everything that goes wrong.

mod running;
mod ahead;
mod instance;
mod supply;
mod state;
mod turns;
mod failure;
mod parts;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_core::ToolRegistry;
use callgate_core::failure::ListenerFailure;
use callgate_core::listener::Hooks;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::abi::v0_1::HookEvent;
use crate::capabilities::Grants;
use crate::component::LoadedComponent;
use crate::limits::SandboxLimits;

use ahead::{Unready, ahead, refill};
use running::Running;
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
    slow_places: Arc<Semaphore>,
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
        let [places, slow_places] =
            [(); 2].map(|()| Arc::new(Semaphore::new(limits.concurrency.min(Semaphore::MAX_PERMITS))));
        let (waiting, turns, supply) = (Semaphore::new(WAITING), Turns::new(), Supply::default());
        let served = Arc::new(Served { component, grants, limits, used, places, slow_places, waiting, turns, supply });
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
    pub(crate) async fn run<E: HookEvent<Reply: 'static> + Sync + 'static>(
        &self,
        event: E,
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
        Running::begin(served, event, deadline, registry).end(served, place).await
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

    /// A place in the slow lane. Nobody waits for one: those who have them are long.
    fn slow_place(&self) -> Option<Place> {
        let own = self.slow_places.clone().try_acquire_owned().ok()?;
        let of_sandbox = self.component.sandbox().slow_places.clone().try_acquire_owned().ok()?;
        Some(Place { _own: own, _of_sandbox: of_sandbox })
    }

    /// Whether what instances make of themselves depends on the rows.
    fn prepares_over_rows(&self) -> bool {
        self.used.grant && self.component.hooks().has_prepare()
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Served").field("listener", &self.grants.listener).finish_non_exhaustive()
    }
}
