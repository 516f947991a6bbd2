//! One instance of a component, from its store to the one event that it is for.

use std::sync::Arc;
use std::time::{Duration, Instant};

use callgate_core::ToolRegistry;
use callgate_core::failure::ListenerFailure;
use wasmtime::Store;

use crate::abi::v0_1::{HookEvent, LoadedHooks, rehearse};

use super::Served;
use super::failure::{self, Fault, Outcome, Stage as Where};
use super::state::EventState;
use super::turns::Turn;

/// The most rehearsals that an instance gets, whatever it asks for.
const REHEARSALS: u32 = 16;

/// An instance that has seen no event. It is asked once and dropped (F5).
pub(crate) struct EventInstance {
    store: Store<EventState>,
    hooks: Option<LoadedHooks>,
    rehearsals: u32,
}

impl EventInstance {
    /// A store for an instance, and nothing in it yet.
    // INVARIANT: every store is made here, so every guest has its limits and its deadline before its first instruction:
    // a component's start functions run while it is instantiated.
    pub(super) fn blank(served: &Served, registry: Option<Arc<ToolRegistry>>, end: Instant) -> Self {
        let limits = &served.limits;
        let state = EventState::new(served.grants.clone(), limits, registry, end);
        let mut store = Store::new(&served.component.sandbox().engine.engine, state);
        store.limiter(|state| &mut state.meter);
        store.set_hostcall_fuel(limits.hostcall_fuel);
        store.set_max_component_handles(limits.handles);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|store| store.data().woken());
        Self { store, hooks: None, rehearsals: 0 }
    }

    /// Creates the instance, if it is not there yet, and lets it prepare itself.
    pub(super) async fn prepare(&mut self, served: &Served) -> Result<(), Fault> {
        if self.is_prepared() {
            return Ok(());
        }
        let component = &served.component;
        let instance = component.pre().instantiate_async(&mut self.store).await;
        let instance = instance.map_err(|error| Fault::Error(Where::Instantiate, error))?;
        let loaded = component.hooks().load(&mut self.store, &instance);
        let hooks = loaded.map_err(|error| Fault::Error(Where::Instantiate, error))?;
        if let Some(wanted) = hooks.prepare(&mut self.store).await {
            let wanted = wanted.map_err(|error| Fault::Error(Where::Call, error))?;
            self.rehearsals = wanted.map_err(Fault::Returned)?.min(REHEARSALS);
        }
        self.hooks = Some(hooks);
        Ok(())
    }

    /// Whether it is ready to be asked.
    pub(super) fn is_prepared(&self) -> bool {
        self.hooks.is_some()
    }

    /// Runs made-up events through the hooks that are used, as often as the guest asked for.
    pub(super) async fn rehearse(&mut self, served: &Served) -> Result<(), Fault> {
        let Some(hooks) = &self.hooks else { return Ok(()) };
        for _ in 0..self.rehearsals {
            let rehearsed = rehearse(served.used, hooks, &mut self.store).await;
            rehearsed.map_err(|error| Fault::Error(Where::Call, error))?;
        }
        Ok(())
    }

    /// From here on the instance is for one event, which has until then.
    pub(super) fn begin(&mut self, served: &Served, registry: Option<Arc<ToolRegistry>>, end: Instant) {
        self.store.data_mut().begin(&served.limits, registry, end);
    }

    /// Puts the question.
    pub(crate) async fn ask<E: HookEvent>(&mut self, event: &E) -> Result<E::Reply, Fault> {
        let hooks = self.hooks.as_ref().ok_or_else(|| Fault::Returned("it was not prepared".into()))?;
        let answer = event.ask(hooks, &mut self.store).await;
        answer.map_err(|error| Fault::Error(Where::Call, error))?.map_err(Fault::Returned)
    }

    /// From here on it is somebody's event that waits for it.
    pub(super) fn take_turns(&mut self, turn: Turn) {
        self.store.data_mut().take_turns(turn);
    }

    /// What came of the event.
    pub(super) fn judge<R>(&self, outcome: Outcome<R>, deadline: Duration) -> Result<R, ListenerFailure> {
        let kept_waiting = self.store.data().end_turn();
        let reply = Fault::from_outcome(outcome).map_err(|fault| match self.failure(fault, deadline) {
            // Another caller's events must not count as this one's failures.
            ListenerFailure::Deadline(_) if kept_waiting => ListenerFailure::Overload,
            failure => failure,
        })?;
        self.store.data().tell_output();
        Ok(reply)
    }

    /// A fault as the failure that it is, with what the guest printed.
    pub(super) fn failure(&self, fault: Fault, deadline: Duration) -> ListenerFailure {
        let state = self.store.data();
        failure::classify(fault, deadline, &state.output(), state.meter.refused())
    }
}
