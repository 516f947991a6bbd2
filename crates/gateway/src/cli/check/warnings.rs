//! What works and is probably not meant.

use std::fmt;

use callgate_core::dispatcher::Reading;
use callgate_core::listener::Listener;
use callgate_core::registry::{Reach, Row};
use callgate_core::{Caller, Dispatcher, ToolRegistry};
use callgate_wasm::{Capability, Standing};

use super::super::hook_names;
use super::upstream_of;
use crate::assemble::ReadyListener;
use crate::config::{Config, Problem};
use crate::text::{counted, printable};

/// Something that does not keep the file from being used.
pub(super) struct Warning(Problem);

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let warned = Problem { reason: format!("warning: {}", self.0.reason), ..self.0.clone() };
        warned.fmt(f)
    }
}

pub(super) async fn find(
    config: &Config,
    listeners: &[ReadyListener<'_>],
    registry: &ToolRegistry,
    dispatcher: &Dispatcher,
) -> Vec<Warning> {
    let mut warnings = Vec::new();
    warnings.extend(names_no_tool(config, registry));
    warnings.extend(names_no_role(config));
    for ready in listeners {
        warnings.extend(left_out(config, ready));
        warnings.extend(not_granted(config, ready));
        warnings.extend(granted_in_vain(config, ready));
    }
    for caller in config.callers.values() {
        let listing = dispatcher.list(Some(caller.clone())).await;
        let seen: Vec<_> = listing.tools.iter().map(|tool| tool.row.as_ref()).collect();
        warnings.extend(generic_beside_hidden(config, caller, &seen, registry));
        if seen.is_empty() {
            let reason = format!("caller '{}' sees no tool at all", printable(caller.subject()));
            warnings.push(whole_file(config, reason));
        }
        if listing.reading == Reading::Degraded {
            let reason = format!("a grant listener fails for caller '{}'", printable(caller.subject()));
            warnings.push(whole_file(config, reason));
        }
    }
    if config.stdio_caller.is_none() {
        warnings.push(whole_file(config, "nobody is signed in to the stdio session: no [stdio] names a caller".into()));
    }
    warnings
}

/// A permission or a table for a tool that is not there decides nothing; mostly its name is misspelt.
fn names_no_tool(config: &Config, registry: &ToolRegistry) -> Vec<Warning> {
    let listed = |method: &str| registry.rows().iter().any(|row| row.rpc_method == method);
    let mut warnings = Vec::new();
    for entry in config.permission_lines.iter().filter(|entry| !listed(&entry.method)) {
        warnings.push(at(config, entry.line, format!("no server lists a tool for '{}'", printable(&entry.method))));
    }
    for entry in &config.permission_lines {
        let rows = registry.rows().iter().filter(|row| row.rpc_method == entry.method);
        for row in rows.filter(|row| row.section.as_deref() != Some(entry.section.as_str())) {
            let section = row.section.as_deref().unwrap_or("none");
            let reason = format!(
                "'{}' is in section '{section}', so section '{}' permits nothing",
                printable(&entry.method),
                printable(&entry.section)
            );
            warnings.push(at(config, entry.line, reason));
        }
    }
    for upstream in &config.upstreams {
        for (name, table) in &upstream.tools {
            if !listed(&format!("{}/{name}", upstream.name)) {
                let reason = format!("upstream '{}' lists no tool '{}'", upstream.name, printable(name));
                warnings.push(at(config, table.line, reason));
            }
        }
    }
    warnings
}

/// A permission for roles that no caller of the file holds permits nobody; mostly a role's name is misspelt.
fn names_no_role(config: &Config) -> Vec<Warning> {
    let held = |role: &String| config.callers.values().any(|caller| caller.has_role(role));
    let unheld =
        config.permission_lines.iter().filter(|entry| !entry.roles.is_empty() && !entry.roles.iter().any(held));
    let reason = |roles: &[String]| format!("no caller of this file has a role of {}", printable(&roles.join(", ")));
    unheld.map(|entry| at(config, entry.line, reason(&entry.roles))).collect()
}

/// Hooks that the component has and that its table leaves out are never asked.
fn left_out(config: &Config, ready: &ReadyListener<'_>) -> Option<Warning> {
    let (has, used) = (ready.listener.component().exported(), ready.listener.hooks());
    let missed: Vec<_> = hook_names(has).into_iter().filter(|hook| !hook_names(used).contains(hook)).collect();
    let listener = ready.config;
    (!missed.is_empty()).then(|| {
        let reason =
            format!("listener '{}' is never asked its {}: `hooks` leaves it out", listener.name, missed.join(", "));
        at(config, listener.line, reason)
    })
}

/// What a component asks the host for and will not get. Interfaces of WASI are imported by every toolchain, mostly unused,
/// so nothing is said of those.
fn not_granted(config: &Config, ready: &ReadyListener<'_>) -> Vec<Warning> {
    let listener = ready.config;
    let ours = ready.listener.component().imports().iter().filter(|import| import.name.starts_with("callgate:host/"));
    let reasons = ours.filter_map(|import| match import.standing {
        Standing::Granted(capability) if !listener.grants(capability) => Some(format!(
            "listener '{}' imports {}, which {}: `capabilities` does not grant '{capability}'",
            listener.name,
            printable(&import.name),
            if capability == Capability::Log { "writes nothing" } else { "answers with an error" },
        )),
        _ => None,
    });
    reasons.map(|reason| at(config, listener.line, reason)).collect()
}

/// What is granted to a component that has no use for it; mostly it was meant for another one.
fn granted_in_vain(config: &Config, ready: &ReadyListener<'_>) -> Vec<Warning> {
    let listener = ready.config;
    let imports = ready.listener.component().imports();
    let imported = |capability| imports.iter().any(|import| import.standing == Standing::Granted(capability));
    let vain = Capability::ALL.into_iter().filter(|it| listener.grants(*it) && !imported(*it));
    vain.map(|capability| {
        let line = match capability {
            Capability::Http => listener.http.as_ref().map(|(_, line)| *line),
            Capability::Folder => listener.folders.first().map(|(_, line)| *line),
            _ => None,
        };
        let reason =
            format!("listener '{}' is granted '{capability}' and its component does not ask for it", listener.name);
        at(config, line.unwrap_or(listener.line), reason)
    })
    .collect()
}

/// A generic tool reaches what its neighbours hide (G9).
fn generic_beside_hidden(config: &Config, caller: &Caller, seen: &[&Row], registry: &ToolRegistry) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for generic in seen.iter().filter(|row| row.reach == Reach::Generic) {
        let upstream = upstream_of(&generic.rpc_method);
        let hidden = registry.rows().iter().filter(|row| {
            upstream_of(&row.rpc_method) == upstream && !seen.iter().any(|seen| seen.identifier == row.identifier)
        });
        let hidden = hidden.count();
        if hidden > 0 {
            let line = config.permission_lines.iter().find(|entry| entry.method == generic.rpc_method);
            let reason = format!(
                "caller '{}' may call the generic tool '{}', which may reach what {} of upstream '{upstream}' would do",
                printable(caller.subject()),
                printable(&generic.identifier),
                counted(hidden, "hidden tool")
            );
            warnings.push(
                line.map_or_else(|| whole_file(config, reason.clone()), |it| at(config, it.line, reason.clone())),
            );
        }
    }
    warnings
}

fn at(config: &Config, line: usize, reason: String) -> Warning {
    Warning(config.source.problem(line, reason))
}

fn whole_file(config: &Config, reason: String) -> Warning {
    Warning(Problem { file: config.source.path().into(), line: None, reason })
}
