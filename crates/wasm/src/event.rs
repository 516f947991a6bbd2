//! One event: a new store and a new instance, a deadline, and a failure for everything that goes wrong.

mod failure;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_core::ToolRegistry;
use callgate_core::failure::ListenerFailure;
use futures_util::FutureExt;
use tokio::sync::Semaphore;
use wasmtime::component::ResourceTable;
use wasmtime::{Store, UpdateDeadline};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::abi::v0_1::HookEvent;
use crate::capabilities::{self, Grants, LISTENER_LOG, Uses};
use crate::component::LoadedComponent;
use crate::limits::{Meter, SandboxLimits, Tail};
use crate::text::printable;

use failure::{Fault, Stage};

/// How much longer than its deadline an event may take to notice that the deadline has passed.
const GRACE: Duration = Duration::from_millis(20);

/// What host functions work with during one event. Nothing of it is left when the event is over (F5).
pub(crate) struct EventState {
    pub(crate) grants: Grants,
    /// The rows under decision; none for hooks that decide over no rows.
    pub(crate) registry: Option<Arc<ToolRegistry>>,
    pub(crate) meter: Meter,
    pub(crate) uses: Uses,
    output: Tail,
    wasi: WasiCtx,
    pub(crate) table: ResourceTable,
}

impl WasiView for EventState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl EventState {
    fn new(grants: Grants, limits: &SandboxLimits, deadline: Duration, registry: Option<Arc<ToolRegistry>>) -> Self {
        let output = Tail::new(limits.stderr);
        let mut table = ResourceTable::new();
        table.set_max_capacity(grants.folders.handles(limits.handles));
        let wasi = capabilities::context(&output, &grants);
        let uses = Uses::new(&grants, deadline);
        Self { grants, registry, meter: Meter::new(limits), uses, output, wasi, table }
    }

    /// What a guest prints when nothing is wrong helps its author only.
    fn tell_output(&self) {
        if tracing::enabled!(target: LISTENER_LOG, tracing::Level::DEBUG) {
            let output = printable(&self.output.text(), usize::MAX);
            if !output.is_empty() {
                tracing::debug!(target: LISTENER_LOG, listener = &*self.grants.listener, "printed: {output}");
            }
        }
    }
}

/// What all events of one listener share.
#[derive(Debug)]
pub(crate) struct EventRunner {
    component: Arc<LoadedComponent>,
    grants: Grants,
    limits: SandboxLimits,
    places: Semaphore,
}

impl EventRunner {
    pub(crate) fn new(component: Arc<LoadedComponent>, grants: Grants, limits: SandboxLimits) -> Self {
        let places = Semaphore::new(limits.concurrency.min(Semaphore::MAX_PERMITS));
        Self { component, grants, limits, places }
    }

    pub(crate) fn component(&self) -> &Arc<LoadedComponent> {
        &self.component
    }

    pub(crate) fn limits(&self) -> &SandboxLimits {
        &self.limits
    }

    /// Puts one question to a new instance, for as long as the deadline says.
    pub(crate) async fn run<E: HookEvent + Sync>(
        &self,
        event: &E,
        deadline: Duration,
        registry: Option<Arc<ToolRegistry>>,
    ) -> Result<E::Reply, ListenerFailure> {
        let sandbox = self.component.sandbox();
        if !sandbox.engine.heartbeat.is_alive(Instant::now()) {
            return Err(ListenerFailure::Instantiation("the clock that keeps deadlines has stopped".into()));
        }
        let places = async {
            // A listener that fills its own places waits for itself and not in front of the others.
            let own = self.places.acquire().await.ok()?;
            Some((own, sandbox.places.acquire().await.ok()?))
        };
        let Ok(Some(_places)) = tokio::time::timeout(deadline, places).await else {
            return Err(ListenerFailure::Overload);
        };
        let mut store = self.store(deadline, registry);
        let answer = AssertUnwindSafe(self.ask(event, &mut store)).catch_unwind();
        let fault = match tokio::time::timeout(deadline + GRACE, answer).await {
            Ok(Ok(Ok(Ok(reply)))) => {
                store.data().tell_output();
                return Ok(reply);
            }
            Ok(Ok(Ok(Err(text)))) => Fault::Returned(text),
            Ok(Ok(Err((stage, error)))) => Fault::Error(stage, error),
            Ok(Err(panic)) => Fault::Panic(panic),
            Err(_) => Fault::Late,
        };
        let state = store.data();
        Err(failure::classify(fault, deadline, &state.output.text(), state.meter.refused()))
    }

    async fn ask<E: HookEvent + Sync>(
        &self,
        event: &E,
        store: &mut Store<EventState>,
    ) -> Result<Result<E::Reply, String>, (Stage, wasmtime::Error)> {
        let component = &self.component;
        let instance = component.pre().instantiate_async(&mut *store).await;
        let instance = instance.map_err(|error| (Stage::Instantiate, error))?;
        event.ask(component.hooks(), store, &instance).await.map_err(|error| (Stage::Call, error))
    }

    // INVARIANT: every store is made here, so every guest has its limits and its deadline before its first instruction:
    // a component's start functions run while it is instantiated.
    pub(crate) fn store(&self, deadline: Duration, registry: Option<Arc<ToolRegistry>>) -> Store<EventState> {
        let state = EventState::new(self.grants.clone(), &self.limits, deadline, registry);
        let mut store = Store::new(&self.component.sandbox().engine.engine, state);
        store.limiter(|state| &mut state.meter);
        store.set_hostcall_fuel(self.limits.hostcall_fuel);
        store.set_max_component_handles(self.limits.handles);
        store.set_epoch_deadline(1);
        let end = Instant::now() + deadline;
        // The tick only wakes the guest; the wall clock decides. In between the guest gives way, so that a future that was
        // dropped, or has timed out, does not run on.
        store.epoch_deadline_callback(move |_| {
            Ok(match Instant::now() >= end {
                true => UpdateDeadline::Interrupt,
                false => UpdateDeadline::YieldCustom(1, Box::pin(tokio::task::yield_now())),
            })
        });
        store
    }
}
