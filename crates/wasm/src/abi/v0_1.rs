//! The 0.1 line of `callgate:listener`.

pub(crate) mod bindings;
mod hooks;
mod rehearsal;
mod lower;
mod lift;
mod registry;

pub(crate) use hooks::{AfterCallEvent, BeforeCallEvent, GrantEvent, HookEvent, Hooks, LoadedHooks};
pub(crate) use lift::{grant_answer, verdict};
pub(crate) use lower::PayloadCap;
pub(crate) use registry::NoRegistry;
pub(crate) use rehearsal::rehearse;

use wasmtime::component::{HasSelf, Linker};

use crate::event::EventState;

/// Links everything that a component of this line may import, WASI aside.
pub(crate) fn link(linker: &mut Linker<EventState>) -> wasmtime::Result<()> {
    bindings::PreparedListener::add_to_linker::<_, HasSelf<EventState>>(linker, |state| {
        state.meter.count_host_call();
        state
    })
}
