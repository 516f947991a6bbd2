//! `callgate state`: what listeners keep, for operators who read an audit trail or settle what a ledger could not.

use std::io::Write;

use anyhow::{Context, Result, bail};
use callgate_core::StateStore;
use clap::{Args, Subcommand};

use super::ConfigFile;
use super::approve::listeners;
use crate::assemble;
use crate::text::{printable, time_left};

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Lists a listener's keys and values.
    List {
        #[command(flatten)]
        place: Place,
        /// Lists only keys that begin with this.
        #[arg(long, default_value = "")]
        prefix: String,
    },
    /// Prints one value as it is.
    Get {
        #[command(flatten)]
        place: Place,
        /// The value's key.
        key: String,
    },
    /// Removes one value.
    Delete {
        #[command(flatten)]
        place: Place,
        /// The value's key.
        key: String,
    },
}

/// Whose values.
#[derive(Debug, Args)]
pub(super) struct Place {
    #[command(flatten)]
    file: ConfigFile,
    /// The listener whose values are meant.
    #[arg(long, value_name = "NAME")]
    listener: String,
}

pub(super) async fn run(action: Action, out: &mut impl Write) -> Result<()> {
    let (Action::List { place, .. } | Action::Get { place, .. } | Action::Delete { place, .. }) = &action;
    let config = place.file.load()?;
    listeners(&config, Some(&place.listener))?;
    let store = assemble::existing_store(&config)?;
    let scope = place.listener.as_str();
    match &action {
        Action::List { prefix, .. } => {
            for stored in store.values(scope, prefix).await? {
                let expires = stored.expires.map(|then| format!(" (for {})", time_left(then))).unwrap_or_default();
                writeln!(out, "{}{expires}: {}", printable(&stored.key), printable(&stored.value))?;
            }
        }
        Action::Get { key, .. } => {
            let value = store.get(scope, key).await?.with_context(|| nothing(scope, key))?;
            writeln!(out, "{value}")?;
        }
        Action::Delete { key, .. } => {
            if !store.delete(scope, key).await? {
                bail!(nothing(scope, key));
            }
            writeln!(out, "Removed '{}' of listener '{scope}'.", printable(key))?;
        }
    }
    Ok(())
}

fn nothing(scope: &str, key: &str) -> String {
    format!("listener '{scope}' keeps nothing under '{}'", printable(key))
}
