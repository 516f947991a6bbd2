//! The real host in process: components in the sandbox, tools in the registry, one dispatcher over both.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use callgate_core::listener::Hooks;
use callgate_core::permissions::Permissions;
use callgate_core::registry::Tool;
use callgate_core::request::{CallRequest, Round};
use callgate_core::subscription::Delivery;
use callgate_core::{Caller, Dispatcher, Json, RuleSet, Rules, StateStore, Subscription, ToolRegistry};
use callgate_wasm::{
    Capability, ListenerOptions, LoadError, LoadedComponent, Sandbox, SandboxConfig, SandboxLimits, WasmListener,
};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::built::guest;

/// Time for an event on a machine that is busy with other tests. What runs out of time here does so on purpose.
pub const AMPLE: Duration = Duration::from_secs(30);

static SANDBOX: LazyLock<Sandbox> =
    LazyLock::new(|| Sandbox::new(SandboxConfig::default()).expect("the sandbox starts"));
static LOADED: LazyLock<Mutex<HashMap<PathBuf, Arc<LoadedComponent>>>> = LazyLock::new(Mutex::default);

/// The component in that file, compiled once for all tests of a process.
pub async fn load(path: PathBuf) -> Arc<LoadedComponent> {
    let mut loaded = LOADED.lock().await;
    if let Some(component) = loaded.get(&path) {
        return component.clone();
    }
    let component = SANDBOX.load(&path, None).await.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    loaded.insert(path, component.clone());
    component
}

/// The component with those bytes, compiled for as long as somebody keeps it.
pub async fn load_bytes(bytes: Vec<u8>) -> Result<Arc<LoadedComponent>, LoadError> {
    SANDBOX.load_bytes(bytes, None).await
}

/// A listener over a component, as a test configures it.
#[derive(Clone, Debug)]
pub struct Component {
    name: String,
    source: Source,
    config: BTreeMap<String, Json>,
    limits: SandboxLimits,
    hooks: Option<Hooks>,
}

/// Where a component comes from.
#[derive(Clone, Debug)]
enum Source {
    File(PathBuf),
    Loaded(Arc<LoadedComponent>),
}

impl Component {
    /// The Rust component of that name under that name, with the state store.
    pub fn named(name: &str) -> Self {
        Self::at(name, guest(&name.replace('-', "_")))
    }

    /// The component in that file, under that name.
    pub fn at(name: &str, path: PathBuf) -> Self {
        Self::new(name, Source::File(path))
    }

    /// That component, under that name.
    pub fn loaded(name: &str, component: &Arc<LoadedComponent>) -> Self {
        Self::new(name, Source::Loaded(component.clone()))
    }

    fn new(name: &str, source: Source) -> Self {
        let limits = SandboxLimits { decision_deadline: AMPLE, report_deadline: AMPLE, ..SandboxLimits::default() };
        Self { name: name.into(), source, config: BTreeMap::new(), limits, hooks: None }
    }

    /// With that value of its own.
    #[must_use]
    pub fn configured(mut self, key: &str, value: Value) -> Self {
        self.config.insert(key.into(), value.into());
        self
    }

    /// With other limits.
    #[must_use]
    pub fn limited(mut self, change: impl FnOnce(&mut SandboxLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    /// Asked through these hooks only.
    #[must_use]
    pub fn asked(mut self, hooks: Hooks) -> Self {
        self.hooks = Some(hooks);
        self
    }

    /// The listener, keeping what it keeps in that store.
    pub async fn over(self, state: &Arc<dyn StateStore>) -> Subscription {
        let component = match self.source {
            Source::File(path) => load(path).await,
            Source::Loaded(component) => component,
        };
        let options = ListenerOptions {
            name: self.name.clone(),
            limits: self.limits,
            config: self.config,
            capabilities: [Capability::State].into(),
            state: state.clone(),
            hooks: self.hooks,
        };
        let listener = WasmListener::new(component, options).expect("the component fits the sandbox");
        Subscription::new(self.name, Arc::new(listener), AMPLE * 3, Delivery::BeforeReply)
    }
}

/// A dispatcher over these tools and listeners. Without permissions every signed-in caller sees every tool.
pub fn dispatcher(tools: Vec<Tool>, permissions: Permissions, listeners: Vec<Subscription>) -> Dispatcher {
    let registry = ToolRegistry::new(tools).expect("the names differ");
    Dispatcher::new(Arc::new(Rules::new(RuleSet::new(registry, permissions, listeners))), AMPLE * 3)
}

/// A call of that caller; `arguments` and `meta` are JSON texts, passed on as they are written.
pub fn call(caller: &Arc<Caller>, tool: &str, arguments: &str, meta: &str) -> CallRequest {
    let name = Json::string(tool);
    let params = format!(r#"{{"name":{name},"arguments":{arguments},"_meta":{meta}}}"#);
    let params = Json::parse(&params).expect("the test writes JSON");
    CallRequest { caller: Some(caller.clone()), params, round: Round::First, wire: None }
}

/// Everything that a listener keeps under that prefix, in the order of the keys.
pub async fn kept(state: &Arc<dyn StateStore>, listener: &str, prefix: &str) -> Vec<(String, Value)> {
    let values = state.scan(listener, prefix, usize::MAX >> 1).await.expect("the store answers");
    values.into_iter().map(|(key, value)| (key, serde_json::from_str(&value).expect("listeners keep JSON"))).collect()
}
