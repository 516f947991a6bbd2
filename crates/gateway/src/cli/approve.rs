//! `callgate approve`.

use std::io::Write;

use anyhow::Result;
use clap::Args;

use super::ConfigFile;
use crate::approvals::{self, Ticket};
use crate::assemble::{self, StoreError};
use crate::config::Config;
use crate::text::{printable, time_left};

/// Options of `callgate approve`.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    file: ConfigFile,
    /// The ticket that the denial names; without it all calls that wait are listed.
    ticket: Option<String>,
    /// Looks only at this listener's tickets.
    #[arg(long, value_name = "NAME")]
    listener: Option<String>,
}

pub(super) async fn run(options: Options, out: &mut impl Write) -> Result<()> {
    let config = options.file.load()?;
    let listeners = listeners(&config, options.listener.as_deref())?;
    let store = match (assemble::existing_store(&config), &options.ticket) {
        (Err(StoreError::NoFile(_)), None) => return list(&[], out),
        (store, _) => store?,
    };
    let Some(name) = options.ticket else {
        return list(&approvals::tickets(&store, &listeners).await?, out);
    };
    let ticket = approvals::approve(&store, &listeners, &name).await?;
    writeln!(out, "Approved: {}.", sentence(&ticket))?;
    writeln!(out, "The approval is good for one run of exactly that call{}.", until(&ticket))?;
    Ok(())
}

/// The listeners whose values are looked at.
pub(super) fn listeners<'a>(config: &'a Config, only: Option<&'a str>) -> Result<Vec<&'a str>> {
    let all: Vec<_> = config.listeners.iter().map(|listener| listener.name.as_str()).collect();
    match only {
        None => Ok(all),
        Some(name) if all.contains(&name) => Ok(vec![name]),
        Some(name) => anyhow::bail!("{}: there is no listener '{name}'", config.source.path().display()),
    }
}

fn list(tickets: &[Ticket], out: &mut impl Write) -> Result<()> {
    let pending: Vec<_> = tickets.iter().filter(|ticket| ticket.is_pending()).collect();
    if pending.is_empty() {
        writeln!(out, "No call waits for an approval.")?;
    }
    for ticket in pending {
        writeln!(out, "{}  {}{}", printable(&ticket.name), sentence(ticket), until(ticket))?;
    }
    Ok(())
}

/// Everything that the approval is bound to and that a person can judge. Callers choose some of it.
fn sentence(ticket: &Ticket) -> String {
    let request = &ticket.request;
    let arguments = match &request.arguments {
        Some(arguments) => printable(arguments),
        None => format!("arguments too long to show, sha256 {}", printable(&request.arguments_digest)),
    };
    format!("'{}' may call '{}' with {arguments}", printable(&request.subject), printable(&request.tool))
}

fn until(ticket: &Ticket) -> String {
    ticket.expires.map(|then| format!(", for {}", time_left(then))).unwrap_or_default()
}
