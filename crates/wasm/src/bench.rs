//! For benchmarks alone: what an event would cost if an instance were used again, and when the next ones are ready.
//!
//! No listener does the first. What a guest keeps in its memory would be seen by the next event (F5), and a guest that trapped
//! once would never run again.

use std::fmt;
use std::time::Duration;

use callgate_core::failure::ListenerFailure;
use callgate_core::grant::GrantedCall;
use callgate_core::verdict::Verdict;

use crate::abi::v0_1::{self, BeforeCallEvent, PayloadCap};
use crate::event::EventInstance;
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

/// Waits until as many instances of that listener are ready as its limits say.
pub async fn ready(listener: &WasmListener) {
    listener.runner().filled().await;
}

/// One instance, asked again and again.
pub struct WarmInstance<'l> {
    listener: &'l WasmListener,
    instance: EventInstance,
}

impl<'l> WarmInstance<'l> {
    /// An instance of that listener's component, good for an hour.
    ///
    /// # Errors
    /// When it can not be created.
    pub async fn new(listener: &'l WasmListener) -> Result<Self, ListenerFailure> {
        let instance = listener.runner().spare(Duration::from_secs(3_600)).await?;
        Ok(Self { listener, instance })
    }

    /// Asks its before-call hook.
    ///
    /// # Errors
    /// When it gives no verdict.
    pub async fn before_call(&mut self, call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        let limits = self.listener.runner().limits();
        let event = BeforeCallEvent::new(call, PayloadCap(limits.payload));
        let asked = self.instance.ask(&event).await;
        let verdict = asked.map_err(|_| ListenerFailure::BadReturn("it failed".into()))?;
        v0_1::verdict(verdict, limits.output)
    }
}

impl fmt::Debug for WarmInstance<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WarmInstance").field("listener", self.listener).finish_non_exhaustive()
    }
}

/// The parts of one before-call event. The first three come before it and the last behind its answer.
pub const PARTS: [&str; 8] = ["store", "instance", "rehearsal", "question", "begin", "ask", "ask again", "drop"];

/// Makes so many instances ahead, puts the question to each, and says how long each of the [`PARTS`] took.
///
/// # Errors
/// When it gets no verdict.
pub async fn parts(
    listener: &WasmListener,
    call: &GrantedCall,
    count: usize,
) -> Result<Vec<[Duration; PARTS.len()]>, ListenerFailure> {
    let payload = PayloadCap(listener.runner().limits().payload);
    listener.runner().parts(count, || BeforeCallEvent::new(call, payload)).await
}
