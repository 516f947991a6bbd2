//! A component as a listener.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use callgate_core::failure::ListenerFailure;
use callgate_core::grant::{GrantAnswer, GrantedCall};
use callgate_core::listener::{GrantQuery, Hooks, Listener};
use callgate_core::report::CallReport;
use callgate_core::{Json, StateStore, Verdict};

use crate::abi::Hook;
use crate::abi::v0_1::{self, AfterCallEvent, BeforeCallEvent, GrantEvent, PayloadCap};
use crate::capabilities::{
    Capability, FolderGrant, FolderProblem, Folders, Granted, Grants, HttpClient, HttpGrant, HttpProblem,
};
use crate::component::LoadedComponent;
use crate::engine::{MOST_CORE_INSTANCES, MOST_TABLE_ELEMENTS};
use crate::event::EventRunner;
use crate::limits::SandboxLimits;

/// What a component becomes a listener with.
#[derive(Clone, Debug)]
pub struct ListenerOptions {
    /// The listener's configured name. It is also the scope of its keys in the state store.
    pub name: String,
    /// What one event may take.
    pub limits: SandboxLimits,
    /// The values that the component may read by key.
    pub config: BTreeMap<String, Json>,
    /// The host interfaces that the component may use besides its configuration: those that a name alone grants, so
    /// [`Capability::Http`] and [`Capability::Folder`] mean nothing here.
    pub capabilities: BTreeSet<Capability>,
    /// Where the component may send requests; none for nowhere.
    pub http: Option<HttpGrant>,
    /// The folders that the component sees.
    pub folders: Vec<FolderGrant>,
    /// The store behind [`Capability::State`].
    pub state: Arc<dyn StateStore>,
    /// The hooks that are asked; none for all that the component exports.
    pub hooks: Option<Hooks>,
}

/// Why a component can not become that listener.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OptionsError {
    /// A hook is to be asked that the component does not export.
    #[error("the component has no {0} hook; take it out of the listener's `hooks` or build the component with it")]
    HookNotExported(Hook),
    /// No hook is to be asked.
    #[error("no hook would ever be asked; name one in the listener's `hooks` or leave them out")]
    NoHooks,
    /// More of something than the sandbox gives to anybody.
    #[error("a limit of {limit} for {of} is above the {most} that the sandbox can give; lower it")]
    AboveCeiling {
        /// What the limit is for.
        of: &'static str,
        /// The listener's limit.
        limit: usize,
        /// The most that there is.
        most: usize,
    },
    /// A limit under which no event could ever run.
    #[error("with a limit of 0 for {0} no event could run; give it at least 1")]
    Nothing(&'static str),
    /// Requests that can not be granted like that.
    #[error("requests can not be granted: {0}")]
    Http(#[source] HttpProblem),
    /// The threads for a listener that has folders could not be started.
    #[error("the threads that work with its folders do not start: {0}")]
    Threads(String),
    /// A folder that can not be granted like that.
    #[error("a folder can not be granted: {problem}")]
    Folder {
        /// Its place in the list of folders.
        index: usize,
        /// What is wrong with it.
        #[source]
        problem: FolderProblem,
    },
}

/// A sandboxed component that is asked like any other listener. Every event runs in a new instance, so nothing of one is
/// seen by another (F5).
#[derive(Debug)]
pub struct WasmListener {
    hooks: Hooks,
    runner: EventRunner,
}

impl WasmListener {
    /// The component as the listener that the options describe.
    ///
    /// # Errors
    /// When the options do not fit the component or the sandbox.
    pub fn new(component: Arc<LoadedComponent>, options: ListenerOptions) -> Result<Self, OptionsError> {
        let hooks = hooks(component.exported(), options.hooks)?;
        check_limits(&options.limits, component.sandbox().config.memory_ceiling)?;
        let longest = longest_deadline(hooks, &options.limits);
        let http = options.http.map(|grant| HttpClient::new(grant, longest)).transpose().map_err(OptionsError::Http)?;
        let folders = Folders::open(options.folders);
        let grants = Grants::new(Granted {
            listener: options.name.into(),
            config: options.config,
            named: options.capabilities,
            state: options.state,
            http,
            folders: folders.map_err(|(index, problem)| OptionsError::Folder { index, problem })?,
            refusals: Default::default(),
        });
        let runner = EventRunner::new(component, grants, options.limits, hooks);
        Ok(Self { hooks, runner: runner.map_err(|error| OptionsError::Threads(error.to_string()))? })
    }

    /// The component.
    pub fn component(&self) -> &Arc<LoadedComponent> {
        self.runner.component()
    }

    pub(crate) fn runner(&self) -> &EventRunner {
        &self.runner
    }
}

fn hooks(exported: Hooks, wanted: Option<Hooks>) -> Result<Hooks, OptionsError> {
    let wanted = wanted.unwrap_or(exported);
    let pairs = [
        (Hook::Grant, wanted.grant, exported.grant),
        (Hook::BeforeCall, wanted.before_call, exported.before_call),
        (Hook::AfterCall, wanted.after_call, exported.after_call),
    ];
    if let Some((hook, ..)) = pairs.into_iter().find(|(_, wanted, exported)| *wanted && !exported) {
        return Err(OptionsError::HookNotExported(hook));
    }
    if wanted == Hooks::default() { Err(OptionsError::NoHooks) } else { Ok(wanted) }
}

fn longest_deadline(hooks: Hooks, limits: &SandboxLimits) -> Duration {
    let decisions = if hooks.grant || hooks.before_call { limits.decision_deadline } else { Duration::ZERO };
    if hooks.after_call { decisions.max(limits.report_deadline) } else { decisions }
}

fn check_limits(limits: &SandboxLimits, ceiling: usize) -> Result<(), OptionsError> {
    let most_instances = usize::try_from(MOST_CORE_INSTANCES).unwrap_or(usize::MAX);
    for (of, limit, most) in [
        ("bytes of memory", limits.memory, ceiling),
        ("table elements", limits.table_elements, MOST_TABLE_ELEMENTS),
        ("instances", limits.instances, most_instances),
    ] {
        if limit > most {
            return Err(OptionsError::AboveCeiling { of, limit, most });
        }
    }
    let nothing = [
        ("the decision deadline", limits.decision_deadline.is_zero()),
        ("the report deadline", limits.report_deadline.is_zero()),
        ("events at once", limits.concurrency == 0),
        ("hostcall fuel", limits.hostcall_fuel == 0),
        ("instances", limits.instances == 0),
        ("host calls", limits.host_calls == 0),
        ("the preparation deadline", limits.preparation_deadline.is_zero()),
    ];
    let zero = nothing.into_iter().find_map(|(limit, zero)| zero.then_some(limit));
    zero.map_or(Ok(()), |limit| Err(OptionsError::Nothing(limit)))
}

#[async_trait]
impl Listener for WasmListener {
    fn hooks(&self) -> Hooks {
        self.hooks
    }

    fn digest(&self) -> &str {
        self.component().digest()
    }

    async fn grant(&self, query: &GrantQuery) -> Result<GrantAnswer, ListenerFailure> {
        let limits = self.runner.limits();
        let event = GrantEvent::new(&query.caller);
        let decision = self.runner.run(event, limits.decision_deadline, Some(query.registry.clone())).await?;
        v0_1::grant_answer(decision, limits.output)
    }

    async fn before_call(&self, call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        let limits = self.runner.limits();
        let event = BeforeCallEvent::new(call, PayloadCap(limits.payload));
        let verdict = self.runner.run(event, limits.decision_deadline, None).await?;
        v0_1::verdict(verdict, limits.output)
    }

    async fn after_call(&self, report: &CallReport) -> Result<(), ListenerFailure> {
        let limits = self.runner.limits();
        let event = AfterCallEvent::new(report, PayloadCap(limits.payload));
        self.runner.run(event, limits.report_deadline, None).await
    }
}
