//! For benchmarks alone: what an event would cost if an instance were used again.
//!
//! No listener does this. What a guest keeps in its memory would be seen by the next event (F5), and a guest that trapped
//! once would never run again.

use std::time::Duration;

use callgate_core::failure::ListenerFailure;
use callgate_core::grant::GrantedCall;
use callgate_core::verdict::Verdict;
use wasmtime::Store;
use wasmtime::component::Instance;

use crate::abi::v0_1::{self, BeforeCallEvent, HookEvent, PayloadCap};
use crate::event::EventState;
use crate::listener::WasmListener;
use crate::sandbox::Sandbox;

/// What every start of a sandbox proves.
///
/// # Panics
/// When a guest that never ends is not stopped.
#[expect(clippy::expect_used, reason = "a benchmark of something that does not hold is worth nothing")]
pub fn self_test(sandbox: &Sandbox) {
    sandbox.self_test().expect("a guest that never ends is stopped");
}

/// One instance, asked again and again.
pub struct WarmInstance<'l> {
    listener: &'l WasmListener,
    store: Store<EventState>,
    instance: Instance,
}

impl<'l> WarmInstance<'l> {
    /// An instance of that listener's component, good for an hour.
    ///
    /// # Errors
    /// When it can not be created.
    pub async fn new(listener: &'l WasmListener) -> Result<Self, ListenerFailure> {
        let mut store = listener.runner().store(Duration::from_secs(3_600), None);
        let instance = listener.component().pre().instantiate_async(&mut store).await;
        let instance = instance.map_err(|error| ListenerFailure::Instantiation(error.to_string()))?;
        Ok(Self { listener, store, instance })
    }

    /// Asks its before-call hook.
    ///
    /// # Errors
    /// When it gives no verdict.
    pub async fn before_call(&mut self, call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        let limits = self.listener.runner().limits();
        let event = BeforeCallEvent::new(call, PayloadCap(limits.payload));
        let asked = event.ask(self.listener.component().hooks(), &mut self.store, &self.instance).await;
        let verdict = asked.map_err(|error| ListenerFailure::BadReturn(error.to_string()))?;
        v0_1::verdict(verdict.map_err(ListenerFailure::Returned)?, limits.output)
    }
}

impl std::fmt::Debug for WarmInstance<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WarmInstance").field("listener", self.listener).finish_non_exhaustive()
    }
}
