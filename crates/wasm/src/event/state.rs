//! What host functions work with while a guest runs.

use std::sync::Arc;
use std::time::Instant;

use callgate_core::ToolRegistry;
use wasmtime::UpdateDeadline;
use wasmtime::component::ResourceTable;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use crate::capabilities::{self, Grants, LISTENER_LOG, Uses};
use crate::limits::{Meter, SandboxLimits, Tail};
use crate::text::printable;

use super::turns::Turn;

/// What an instance is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It is made ready, for nobody in particular: nothing that it does may have an effect outside of it.
    Preparation,
    /// It was asked.
    Event,
}

/// What host functions work with in one instance. Nothing of it is left when its event is over (F5).
pub(crate) struct EventState {
    pub(crate) grants: Grants,
    /// The rows under decision; none for hooks that decide over no rows.
    pub(crate) registry: Option<Arc<ToolRegistry>>,
    pub(crate) meter: Meter,
    pub(crate) uses: Uses,
    stage: Stage,
    end: Instant,
    /// None while it is made ahead, for nobody's event.
    turn: Option<Turn>,
    output: Tail,
    wasi: WasiCtx,
    pub(crate) table: ResourceTable,
}

impl WasiView for EventState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        // Every function of WASI comes by here, and none of them can be refused here. Over the limit, the event ends at the
        // next tick.
        self.meter.count_host_call();
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

impl EventState {
    /// The state of an instance that is about to be prepared, until then at the latest.
    pub(super) fn new(
        grants: Grants,
        limits: &SandboxLimits,
        registry: Option<Arc<ToolRegistry>>,
        end: Instant,
    ) -> Self {
        let output = Tail::new(limits.stderr);
        let mut table = ResourceTable::new();
        table.set_max_capacity(grants.folders.handles(limits.handles));
        let wasi = capabilities::context(&output, &grants);
        let uses = Uses::new(&grants, end);
        let (meter, stage) = (Meter::new(limits), Stage::Preparation);
        Self { grants, registry, meter, uses, stage, end, turn: None, output, wasi, table }
    }

    /// From here on the guest works for an event: what it may use is counted anew, and what it printed before is nobody's.
    pub(super) fn begin(&mut self, limits: &SandboxLimits, registry: Option<Arc<ToolRegistry>>, end: Instant) {
        self.stage = Stage::Event;
        self.registry = registry;
        self.end = end;
        self.meter.begin_event(limits);
        self.uses = Uses::new(&self.grants, end);
        self.output.clear();
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    /// The end of what the guest printed.
    pub(super) fn output(&self) -> String {
        self.output.text()
    }

    /// From here on it counts as long when it runs for long.
    pub(super) fn take_turns(&mut self, turn: Turn) {
        self.turn = Some(turn);
    }

    /// Lets the listener's next event have the processor. Tells whether the listener's other events kept this one from it.
    pub(super) fn end_turn(&self) -> bool {
        self.turn.as_ref().is_some_and(|turn| {
            turn.end();
            turn.was_kept_waiting()
        })
    }

    /// What happens to a guest that is woken by the clock.
    // The tick only wakes the guest; the wall clock decides. In between the guest gives way, so that a future that was dropped,
    // or has timed out, does not run on.
    pub(super) fn woken(&self) -> wasmtime::Result<UpdateDeadline> {
        self.meter.check_host_calls()?;
        if Instant::now() >= self.end {
            return Ok(UpdateDeadline::Interrupt);
        }
        Ok(UpdateDeadline::YieldCustom(
            1,
            match &self.turn {
                Some(turn) => turn.wait(),
                None => Box::pin(tokio::task::yield_now()),
            },
        ))
    }

    /// What a guest prints when nothing is wrong helps its author only.
    pub(super) fn tell_output(&self) {
        if tracing::enabled!(target: LISTENER_LOG, tracing::Level::DEBUG) {
            let output = printable(&self.output.text(), usize::MAX);
            if !output.is_empty() {
                tracing::debug!(target: LISTENER_LOG, listener = &*self.grants.listener, "printed: {output}");
            }
        }
    }
}
