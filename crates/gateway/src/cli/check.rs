//! `callgate check`: loads everything, starts every server once, and says in sentences what would happen.

mod warnings;

use std::io::Write;
use std::sync::Arc;

use anyhow::Result;
use callgate_core::dispatcher::Reading;
use callgate_core::listener::Listener;
use callgate_core::registry::Exposure;
use callgate_core::subscription::Delivery;
use callgate_core::{Caller, Dispatcher, ToolRegistry};
use callgate_wasm::{FolderAccess, PrivateNetworks};

use crate::assemble::{self, ReadyListener};
use crate::config::{Config, StateLocation, Upstream};
use crate::text::{counted, listed, printable};

pub(super) async fn run(config: &Config, out: &mut impl Write) -> Result<()> {
    let state = assemble::scratch_store(config)?;
    let sandbox = assemble::sandbox(config)?;
    let listeners = assemble::listeners(config, &sandbox, &state).await?;
    let survey = assemble::survey(config).await?;
    let dispatcher = assemble::dispatcher(config, &listeners, survey.registry.clone());

    describe_ground(config, out)?;
    describe_upstreams(config, &survey.registry, out)?;
    describe_listeners(&listeners, out)?;
    for caller in config.callers.values() {
        describe_caller(config, &dispatcher, &survey.registry, caller, out).await?;
    }
    let warnings = warnings::find(config, &listeners, &survey.registry, &dispatcher).await;
    survey.close().await;
    for warning in &warnings {
        writeln!(out, "{warning}")?;
    }
    writeln!(
        out,
        "{}: nothing keeps it from being served; {}.",
        config.source.path().display(),
        match warnings.len() {
            0 => "there are no warnings".to_owned(),
            number => counted(number, "warning"),
        }
    )?;
    Ok(())
}

fn describe_ground(config: &Config, out: &mut impl Write) -> Result<()> {
    match &config.stdio_caller {
        Some(caller) => writeln!(out, "The stdio session runs as '{}'.", printable(caller.subject()))?,
        None => writeln!(out, "Nobody is signed in to the stdio session: it sees no tool and every call is refused.")?,
    }
    match &config.state {
        StateLocation::File(path) => writeln!(out, "What listeners keep is in {}.", path.display())?,
        StateLocation::Memory => writeln!(out, "What listeners keep is gone when the process ends.")?,
    }
    Ok(())
}

fn describe_upstreams(config: &Config, registry: &ToolRegistry, out: &mut impl Write) -> Result<()> {
    for upstream in &config.upstreams {
        let tools = registry.rows().iter().filter(|row| upstream_of(&row.rpc_method) == upstream.name).count();
        writeln!(
            out,
            "Upstream '{}' starts and lists {}. {}",
            upstream.name,
            counted(tools, "tool"),
            unlisted(upstream)
        )?;
    }
    Ok(())
}

fn unlisted(upstream: &Upstream) -> &'static str {
    match upstream.unlisted {
        Exposure::Shown => "Tools that the file does not name are shown to every signed-in caller.",
        Exposure::Withheld => "Tools that the file does not name are hidden.",
    }
}

/// The upstream that a method belongs to: methods are `UPSTREAM/TOOL`.
fn upstream_of(method: &str) -> &str {
    method.split_once('/').map_or(method, |(upstream, _)| upstream)
}

fn describe_listeners(listeners: &[ReadyListener<'_>], out: &mut impl Write) -> Result<()> {
    if listeners.is_empty() {
        writeln!(out, "There are no listeners: roles alone decide, and nothing is recorded.")?;
        return Ok(());
    }
    writeln!(out, "Listeners, in the order in which they are asked:")?;
    for (index, ready) in listeners.iter().enumerate() {
        let component = ready.listener.component();
        let config = ready.config;
        let used = super::hook_names(ready.listener.hooks());
        writeln!(out, "  {}. {}: {}", index + 1, config.name, config.component.display())?;
        writeln!(out, "     sha256 {}{}", component.digest(), if config.pin.is_some() { ", pinned" } else { "" })?;
        let capabilities = config.capabilities.iter().map(|capability| capability.as_str());
        writeln!(out, "     hooks: {}; capabilities: {}", listed(used), listed(capabilities))?;
        if let Some((grant, _)) = &config.http {
            let origins = grant.origins.iter().map(ToString::to_string).collect::<Vec<_>>();
            let networks = match grant.private_networks {
                PrivateNetworks::Refused => "",
                PrivateNetworks::Allowed => ", in private networks as well",
            };
            writeln!(out, "     requests to: {}{networks}", listed(origins.iter().map(String::as_str)))?;
        }
        for (folder, _) in &config.folders {
            let access = match folder.access {
                FolderAccess::Read => "to read",
                FolderAccess::ReadWrite => "to read and write",
            };
            writeln!(out, "     folder: {} as {}, {access}", folder.path.display(), printable(&folder.guest))?;
        }
        writeln!(
            out,
            "     deadlines: {} ms to decide, {} ms to record{}",
            config.limits.decision_deadline.as_millis(),
            config.limits.report_deadline.as_millis(),
            match config.delivery {
                Delivery::BeforeReply => "",
                Delivery::BehindReply => ", behind the answer",
            }
        )?;
    }
    Ok(())
}

async fn describe_caller(
    config: &Config,
    dispatcher: &Dispatcher,
    registry: &ToolRegistry,
    caller: &Arc<Caller>,
    out: &mut impl Write,
) -> Result<()> {
    let rows = registry.rows().iter();
    let permitted = rows.filter(|row| config.permissions.decide(caller, row).permits());
    let listing = dispatcher.list(Some(caller.clone())).await;
    let roles = &caller.identity().roles;
    writeln!(
        out,
        "Caller '{}' with roles {}: the roles permit {} of {}.",
        printable(caller.subject()),
        listed(roles.iter().map(String::as_str)),
        listed(permitted.map(|row| row.identifier.as_str())),
        counted(registry.rows().len(), "tool")
    )?;
    let seen = listed(listing.tools.iter().map(|tool| tool.row.identifier.as_str()));
    match listing.reading {
        Reading::Complete => writeln!(out, "  After the grant listeners: {seen}.")?,
        Reading::Degraded => {
            writeln!(out, "  A grant listener fails: listings show {seen}, and every call is refused.")?;
        }
    }
    Ok(())
}
