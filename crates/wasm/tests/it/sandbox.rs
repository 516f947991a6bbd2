//! One sandbox for all tests, and listeners in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use callgate_core::listener::Listener;
use callgate_core::state::MemoryState;
use callgate_core::testing::granted_call;
use callgate_core::{ListenerFailure, Verdict};
use callgate_wasm::{ListenerOptions, Sandbox, SandboxConfig, SandboxLimits, WasmListener};

use crate::kit;

pub(crate) fn sandbox() -> &'static Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX.get_or_init(|| Sandbox::new(SandboxConfig { slots: 16, ..SandboxConfig::default() }).unwrap())
}

/// Limits with a deadline that no guest meets on a busy machine unless it means to.
pub(crate) fn patient() -> SandboxLimits {
    let minute = Duration::from_secs(60);
    SandboxLimits { decision_deadline: minute, report_deadline: minute, ..SandboxLimits::default() }
}

pub(crate) fn options() -> ListenerOptions {
    ListenerOptions {
        name: "guest".into(),
        limits: patient(),
        config: BTreeMap::new(),
        capabilities: BTreeSet::new(),
        http: None,
        folders: Vec::new(),
        state: Arc::new(MemoryState::default()),
        hooks: None,
    }
}

pub(crate) async fn listener_with(bytes: Vec<u8>, options: ListenerOptions) -> WasmListener {
    let component = sandbox().load_bytes(bytes, None).await.unwrap_or_else(|error| panic!("{error}"));
    WasmListener::new(component, options).unwrap()
}

pub(crate) async fn listener(bytes: Vec<u8>) -> WasmListener {
    listener_with(bytes, options()).await
}

pub(crate) async fn before_call(listener: &WasmListener) -> Result<Verdict, ListenerFailure> {
    listener.before_call(&granted_call("read", r#"{"path":"a"}"#)).await
}

/// How the before-call hook fails; a neighbour's event right afterwards does not (F2).
pub(crate) async fn failure_with(bytes: Vec<u8>, options: ListenerOptions) -> ListenerFailure {
    let guest = listener_with(bytes, options).await;
    let neighbour = listener(kit::proceeding()).await;
    let failure = before_call(&guest).await.unwrap_err();
    assert_eq!(before_call(&neighbour).await, Ok(Verdict::Proceed), "a neighbour after {failure}");
    assert_eq!(before_call(&guest).await.unwrap_err().kind(), failure.kind(), "the same guest again");
    failure
}

pub(crate) async fn failure(bytes: Vec<u8>) -> ListenerFailure {
    failure_with(bytes, options()).await
}
