//! One event: an instance that has seen no other, a deadline, and a failure for everything that goes wrong.

mod running;
mod ahead;
mod instance;
mod supply;
mod state;
mod turns;
mod failure;
mod parts;

use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};

use callgate_core::ToolRegistry;
use callgate_core::failure::ListenerFailure;
use callgate_core::listener::Hooks;
use futures_util::FutureExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::abi::Hook;
use crate::abi::v0_1::HookEvent;
use crate::capabilities::{Capability, Grants};
use crate::component::LoadedComponent;
use crate::lane::Lane;
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
    /// Those of the places that events after a call may have: when all of them hang, decisions still have the others.
    reports: Arc<Semaphore>,
    slow_places: Arc<Semaphore>,
    waiting: Semaphore,
    turns: Turns,
    /// Where events run that may touch files.
    files: Option<Lane>,
    supply: Supply,
}

/// An event's place among those that run at the same time.
struct Place {
    of_listener: Option<OwnedSemaphorePermit>,
    _of_reports: Option<OwnedSemaphorePermit>,
    _of_sandbox: OwnedSemaphorePermit,
}

impl EventRunner {
    pub(crate) fn new(
        component: Arc<LoadedComponent>,
        grants: Grants,
        limits: SandboxLimits,
        used: Hooks,
    ) -> io::Result<Self> {
        // What a guest does to a folder is seen by everybody, so it does it in an event and not ahead of one.
        let ready = if grants.touches_outside() { 0 } else { limits.ready };
        let limits = SandboxLimits { ready, ..limits };
        let concurrency = limits.concurrency.min(Semaphore::MAX_PERMITS);
        let served = Served {
            places: Arc::new(Semaphore::new(concurrency)),
            reports: Arc::new(Semaphore::new((concurrency - concurrency / 4).max(1))),
            slow_places: Arc::new(Semaphore::new((concurrency / 2).max(1))),
            waiting: Semaphore::new(WAITING),
            turns: Turns::new(),
            files: grants.has(Capability::Folder).then(Lane::of_files).transpose()?,
            supply: Supply::default(),
            component,
            grants,
            limits,
            used,
        };
        let served = Arc::new(served);
        served.component.sandbox().keeper.leave(refill(served.clone()));
        Ok(Self { served })
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
        let order = Order { registry: None, rehearse: true, given: Instant::now() };
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
            // The whole process may have been stopped for a while: then the clock goes on as well.
            tokio::time::sleep(GRACE).await;
            if !sandbox.engine.heartbeat.is_alive(Instant::now()) {
                return Err(ListenerFailure::Instantiation("the clock that keeps deadlines has stopped".into()));
            }
        }
        let place = served.place(E::HOOK, deadline).await?;
        Running::begin(served, place, event, deadline, registry).end().await
    }
}

impl Served {
    /// A place to run, as soon as there is one.
    async fn place(&self, hook: Hook, deadline: Duration) -> Result<Place, ListenerFailure> {
        let place = async {
            // A listener that fills its own places waits for itself and not in front of the others.
            let of_reports = match hook {
                Hook::AfterCall => Some(self.reports.clone().acquire_owned().await.ok()?),
                Hook::Grant | Hook::BeforeCall => None,
            };
            let own = self.places.clone().acquire_owned().await.ok()?;
            let of_sandbox = self.component.sandbox().places.clone().acquire_owned().await.ok()?;
            Some(Place { of_listener: Some(own), _of_reports: of_reports, _of_sandbox: of_sandbox })
        };
        let mut place = pin!(place);
        if let Some(free) = place.as_mut().now_or_never() {
            return free.ok_or(ListenerFailure::Overload);
        }
        let _waiting = self.waiting.try_acquire().map_err(|_| ListenerFailure::Overload)?;
        tokio::time::timeout(deadline, place).await.ok().flatten().ok_or(ListenerFailure::Overload)
    }

    /// A place in the slow lane, until then. Whoever waits for one keeps its own, so of all listeners only so many may: if all
    /// could, those that hang would leave their neighbours none.
    async fn slow_place(&self, end: Instant) -> Option<Place> {
        let sandbox = self.component.sandbox();
        let place = async {
            let own = self.slow_places.clone().acquire_owned().await.ok()?;
            let of_sandbox = sandbox.slow_places.clone().acquire_owned().await.ok()?;
            Some(Place { of_listener: Some(own), _of_reports: None, _of_sandbox: of_sandbox })
        };
        let mut place = pin!(place);
        if let Some(free) = place.as_mut().now_or_never() {
            return free;
        }
        let _parked = sandbox.parking.try_acquire().ok()?;
        tokio::time::timeout_at(end.into(), place).await.ok()?
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
