//! The same small policy in four builds, as listeners.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use callgate_core::Json;
use callgate_core::listener::Hooks;
use callgate_core::state::MemoryState;
use callgate_tests::built;
use callgate_wasm::bench::ready;
use callgate_wasm::{ListenerOptions, LoadedComponent, Sandbox, SandboxConfig, SandboxLimits, WasmListener};
use futures_util::future::BoxFuture;
use serde_json::Value;

pub(crate) const BEFORE_CALL: Hooks = Hooks { grant: false, before_call: true, after_call: false };
pub(crate) const GRANT: Hooks = Hooks { grant: true, before_call: false, after_call: false };
pub(crate) const AFTER_CALL: Hooks = Hooks { grant: false, before_call: false, after_call: true };

/// One build of the policy.
#[derive(Clone, Debug)]
pub(crate) struct Guest {
    pub(crate) name: &'static str,
    component: Arc<LoadedComponent>,
}

impl Guest {
    async fn load(sandbox: &Sandbox, name: &'static str, path: PathBuf) -> Self {
        let component = sandbox.load(&path, None).await;
        Self { name, component: component.unwrap_or_else(|error| panic!("{}: {error}", path.display())) }
    }

    /// A listener that is asked for those hooks.
    pub(crate) fn listener(&self, hooks: Hooks) -> Arc<WasmListener> {
        self.configured(hooks, &[], SandboxLimits::default().ready)
    }

    /// The same with configuration values of its own, and so many instances ready.
    pub(crate) fn configured(&self, hooks: Hooks, config: &[(&str, Value)], ready: usize) -> Arc<WasmListener> {
        // No deadline is to be met by chance on a busy machine, and no limit by an instance that is used again.
        let minute = Duration::from_secs(60);
        let limits = SandboxLimits {
            decision_deadline: minute,
            report_deadline: minute,
            memory: SandboxConfig::default().memory_ceiling,
            host_calls: usize::MAX,
            ready,
            ..SandboxLimits::default()
        };
        let options = ListenerOptions {
            name: self.name.to_owned(),
            limits,
            config: config.iter().map(|(key, value)| ((*key).to_owned(), Json::from(value.clone()))).collect(),
            capabilities: BTreeSet::new(),
            http: None,
            folders: Vec::new(),
            state: Arc::new(MemoryState::default()),
            hooks: Some(hooks),
        };
        Arc::new(WasmListener::new(self.component.clone(), options).expect("the options fit the policy"))
    }
}

/// The build in Rust.
pub(crate) async fn rust(sandbox: &Sandbox) -> Guest {
    Guest::load(sandbox, "Rust", built::guest("policy")).await
}

/// All builds.
pub(crate) async fn all(sandbox: &Sandbox) -> Vec<Guest> {
    let mut guests = vec![rust(sandbox).await];
    for (name, folder) in [("QuickJS", "js"), ("StarlingMonkey", "js-starlingmonkey"), ("Python", "py")] {
        guests.push(Guest::load(sandbox, name, built::guest_in(folder, "listener")).await);
    }
    guests
}

/// Waits until all of them have their instances ready. The first time it does not: a listener that prepares itself over the
/// rows has to be asked once before it knows them.
pub(crate) fn all_ready(listeners: &[Arc<WasmListener>]) -> impl FnMut() -> BoxFuture<'static, ()> + use<> {
    let mut known = Vec::new();
    let listeners = listeners.to_vec();
    move || {
        let asked = std::mem::replace(&mut known, listeners.clone());
        Box::pin(async move {
            for listener in asked {
                ready(&listener).await;
            }
        })
    }
}
