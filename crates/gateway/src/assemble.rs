//! From a configuration to what runs: components become listeners, tables become upstreams, all of it one dispatcher.

mod sandbox;
mod stores;
mod survey;

use std::sync::Arc;
use std::time::Duration;

use callgate_core::listener::Hooks;
use callgate_core::registry::{Exposure, Reach};
use callgate_core::{Dispatcher, Json, RuleSet, Rules, StateStore, Subscription, ToolRegistry};
use callgate_mcp::{Governance, Transport};
use callgate_wasm::{Hook, ListenerOptions, OptionsError, Sandbox, SandboxLimits, WasmListener};

use crate::config::{Config, ListenerConfig, Problem, Problems, Upstream};

pub use sandbox::{COMPILE, sandbox};
pub use stores::{StoreError, existing_store, scratch_store, store};
pub use survey::survey;

/// How long a tool may take over one call. Long, because a call may wait for a person.
const CALL_DEADLINE: Duration = Duration::from_secs(600);

/// A configured listener with its component.
#[derive(Clone, Debug)]
pub struct ReadyListener<'c> {
    /// Its table.
    pub config: &'c ListenerConfig,
    /// The component behind it.
    pub listener: Arc<WasmListener>,
}

/// Loads every component. Their values are kept in that store.
///
/// # Errors
/// Every component that is missing, damaged, of another world, not the one that is pinned, or without a hook that its table
/// names. One that could not be loaded is never left out: a gate that is missing must not be a gate that is open.
pub async fn listeners<'c>(
    config: &'c Config,
    sandbox: &Sandbox,
    state: &Arc<dyn StateStore>,
) -> Result<Vec<ReadyListener<'c>>, Problems> {
    let mut listeners = Vec::new();
    let mut problems = Vec::new();
    for listener in &config.listeners {
        match load(config, listener, sandbox, state).await {
            Ok(ready) => listeners.push(ReadyListener { config: listener, listener: Arc::new(ready) }),
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(listeners) } else { Err(Problems(problems)) }
}

async fn load(
    config: &Config,
    listener: &ListenerConfig,
    sandbox: &Sandbox,
    state: &Arc<dyn StateStore>,
) -> Result<WasmListener, Problem> {
    let component = sandbox.load(&listener.component, listener.pin.as_ref()).await.map_err(|error| {
        let reason = format!("listener '{}': {}: {error}", listener.name, listener.component.display());
        config.source.problem(listener.component_line, reason)
    })?;
    let options = ListenerOptions {
        name: listener.name.clone(),
        limits: listener.limits.clone(),
        config: listener.values.clone(),
        capabilities: listener.capabilities.clone(),
        http: listener.http.as_ref().map(|(grant, _)| grant.clone()),
        folders: listener.folders.iter().map(|(grant, _)| grant.clone()).collect(),
        state: state.clone(),
        hooks: listener.hooks.as_ref().map(|hooks| wanted(hooks)),
    };
    WasmListener::new(component, options).map_err(|error| {
        let line = match &error {
            OptionsError::HookNotExported(missing) => line_of(listener, *missing),
            OptionsError::Http(_) => listener.http.as_ref().map_or(listener.line, |(_, line)| *line),
            OptionsError::Folder { index, .. } => listener.folders.get(*index).map_or(listener.line, |(_, line)| *line),
            _ => listener.line,
        };
        config.source.problem(line, format!("listener '{}': {error}", listener.name))
    })
}

fn wanted(hooks: &[(Hook, usize)]) -> Hooks {
    let has = |wanted| hooks.iter().any(|(hook, _)| *hook == wanted);
    Hooks { grant: has(Hook::Grant), before_call: has(Hook::BeforeCall), after_call: has(Hook::AfterCall) }
}

fn line_of(listener: &ListenerConfig, wanted: Hook) -> usize {
    let hooks = listener.hooks.iter().flatten();
    hooks.filter(|(hook, _)| *hook == wanted).map(|(_, line)| *line).next().unwrap_or(listener.line)
}

impl ReadyListener<'_> {
    fn subscription(&self) -> Subscription {
        let listener = self.listener.clone();
        Subscription::new(&self.config.name, listener, backstop(&self.config.limits), self.config.delivery)
            .with_breaker(self.config.breaker)
    }
}

/// The sandbox keeps a listener's deadlines itself, and lets an event wait as long again for a free place. What the
/// dispatcher adds is for the case that the sandbox does not answer at all.
fn backstop(limits: &SandboxLimits) -> Duration {
    limits.decision_deadline.max(limits.report_deadline) * 2 + Duration::from_millis(250)
}

/// The dispatcher over these tools and listeners, and the permissions of the file.
pub fn dispatcher(config: &Config, listeners: &[ReadyListener<'_>], registry: ToolRegistry) -> Dispatcher {
    let subscriptions = listeners.iter().map(ReadyListener::subscription).collect();
    let rules = RuleSet::new(registry, config.permissions.clone(), subscriptions);
    Dispatcher::new(Arc::new(Rules::new(rules)), CALL_DEADLINE)
}

/// The servers behind the gateway, ready to be started.
pub fn upstreams(config: &Config) -> Vec<callgate_mcp::Upstream> {
    config.upstreams.iter().map(upstream).collect()
}

fn upstream(upstream: &Upstream) -> callgate_mcp::Upstream {
    let command = upstream.command.clone();
    let described = upstream.clone();
    callgate_mcp::Upstream {
        name: upstream.name.clone(),
        prefix: upstream.prefix.clone(),
        transport: Transport::Child(callgate_mcp::Command {
            program: command.program,
            arguments: command.arguments,
            environment: command.environment.into_iter().collect(),
            directory: command.directory,
        }),
        govern: Arc::new(move |tool: &str, _: &Json| govern(&described, tool)),
    }
}

/// A tool with a table of its own is named, so what holds for those that are not does not hold for it.
fn govern(upstream: &Upstream, tool: &str) -> Governance {
    let table = upstream.tools.get(tool);
    Governance {
        section: Some(table.and_then(|table| table.section.clone()).unwrap_or_else(|| upstream.section.clone())),
        exposure: table.map_or(upstream.unlisted, |_| Exposure::Shown),
        reach: table.map_or(Reach::Bounded, |table| table.reach),
        attributes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::Source;

    #[test]
    fn g2_tools_without_a_table_are_as_the_upstream_says() {
        let text = "listeners = []\n[upstream.a]\ncommand = [\"x\"]\nunlisted = \"hidden\"\n[upstream.a.tool.fetch]\n\
                    generic = true\n[upstream.a.tool.mail]\nsection = \"post\"";
        let config = Config::parse(Source::new(Path::new("callgate.toml"), text)).unwrap();
        let governed = |tool| govern(&config.upstreams[0], tool);

        let unlisted = governed("other");
        assert_eq!((unlisted.exposure, unlisted.reach), (Exposure::Withheld, Reach::Bounded));
        assert_eq!(unlisted.section.as_deref(), Some("a"));
        assert_eq!((governed("fetch").exposure, governed("fetch").reach), (Exposure::Shown, Reach::Generic));
        assert_eq!(governed("mail").section.as_deref(), Some("post"));
    }

    #[test]
    fn the_dispatcher_waits_longer_than_the_sandbox() {
        let limits = SandboxLimits::default();
        assert!(backstop(&limits) > limits.decision_deadline * 2 && backstop(&limits) > limits.report_deadline * 2);
    }
}
