//! One before-call event: a type of the host project, an instance that is used again, and what listeners get, which is a new
//! instance every time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use callgate_core::grant::GrantedCall;
use callgate_core::listener::{Hooks, Listener};
use callgate_core::state::MemoryState;
use callgate_core::testing::granted_call;
use callgate_core::{ListenerFailure, Verdict};
use callgate_tests::built;
use callgate_wasm::bench::WarmInstance;
use callgate_wasm::{ListenerOptions, Sandbox, SandboxConfig, SandboxLimits, WasmListener};

use crate::measure::Table;

/// Decides what the puppet decides.
#[derive(Debug)]
struct Native;

#[async_trait]
impl Listener for Native {
    fn hooks(&self) -> Hooks {
        Hooks { before_call: true, ..Hooks::default() }
    }

    async fn before_call(&self, call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        Ok(if call.identifier().is_empty() { Verdict::Answer(call.arguments().clone()) } else { Verdict::Proceed })
    }
}

/// A puppet that lets everything pass.
pub(crate) async fn puppet(sandbox: &Sandbox, name: &str, hooks: Hooks) -> WasmListener {
    let component = sandbox.load(&built::guest("puppet"), None).await.expect("the puppet loads");
    // No deadline is to be met by chance on a busy machine.
    let minute = Duration::from_secs(60);
    let limits = SandboxLimits { decision_deadline: minute, report_deadline: minute, ..SandboxLimits::default() };
    let options = ListenerOptions {
        name: name.to_owned(),
        limits,
        config: BTreeMap::new(),
        capabilities: BTreeSet::new(),
        http: None,
        folders: Vec::new(),
        state: Arc::new(MemoryState::default()),
        hooks: Some(hooks),
    };
    WasmListener::new(component, options).expect("the options fit the puppet")
}

pub(crate) async fn measure(table: &mut Table) {
    let sandbox = Sandbox::new(SandboxConfig::default()).expect("the sandbox starts");
    let before_call = Hooks { before_call: true, ..Hooks::default() };
    let fresh = puppet(&sandbox, "puppet", before_call).await;
    let mut warm = WarmInstance::new(&fresh).await.expect("an instance is created");
    let native: Arc<dyn Listener> = Arc::new(Native);
    let call = granted_call("read", r#"{"path":"/srv/a.txt"}"#);
    table
        .time("event: native", 100_000, async || {
            native.before_call(&call).await.expect("it proceeds");
        })
        .await;
    table
        .time("event: warm instance", 20_000, async || {
            warm.before_call(&call).await.expect("it proceeds");
        })
        .await;
    table
        .time("event: fresh instance", 20_000, async || {
            fresh.before_call(&call).await.expect("it proceeds");
        })
        .await;
}
