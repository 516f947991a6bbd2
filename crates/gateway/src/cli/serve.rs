//! `callgate serve`.

use std::future::Future;
use std::sync::Arc;

use anyhow::{Context, Result};
use callgate_core::{Caller, ToolRegistry};
use callgate_mcp::Server;
use clap::Args;

use super::ConfigFile;
use crate::assemble;
use crate::config::Config;

/// Options of `callgate serve`.
#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    file: ConfigFile,
    /// Runs the session as this caller of the configuration.
    #[arg(long = "as", value_name = "NAME")]
    caller: Option<String>,
}

pub(super) async fn run(options: Options) -> Result<()> {
    let config = options.file.load()?;
    let caller = caller(&config, options.caller.as_deref())?;
    let state = assemble::store(&config)?;
    let sandbox = assemble::sandbox(&config)?;
    let listeners = assemble::listeners(&config, &sandbox, &state).await?;
    refuse_collisions(&config).await?;

    let names: Vec<_> = listeners.iter().map(|listener| listener.config.name.as_str()).collect();
    let upstreams: Vec<_> = config.upstreams.iter().map(|upstream| upstream.name.as_str()).collect();
    tracing::info!(config = %config.source.path().display(), listeners = ?names, ?upstreams, "serving");
    announce(caller.as_deref());
    let server = Server {
        dispatcher: assemble::dispatcher(&config, &listeners, ToolRegistry::default()),
        caller,
        upstreams: assemble::upstreams(&config),
        native: Vec::new(),
        name: "callgate".into(),
        version: env!("CARGO_PKG_VERSION").into(),
    };
    Ok(callgate_mcp::serve(server, tokio::io::stdin(), tokio::io::stdout(), asked_to_stop()?).await?)
}

fn caller(config: &Config, name: Option<&str>) -> Result<Option<Arc<Caller>>> {
    let Some(name) = name else { return Ok(config.stdio_caller.clone()) };
    let caller = config.callers.get(name).with_context(|| {
        format!("{}: there is no [caller.{name}] to run the session as", config.source.path().display())
    })?;
    Ok(Some(caller.clone()))
}

/// Only between several servers can names collide by configuration, and only a look at them tells. One server alone is
/// started once, by the session itself.
async fn refuse_collisions(config: &Config) -> Result<()> {
    if config.upstreams.len() > 1 {
        assemble::survey(config).await?.close().await;
    }
    Ok(())
}

fn announce(caller: Option<&Caller>) {
    match caller {
        Some(caller) => tracing::info!(caller = caller.subject(), "the session runs as this caller"),
        None => tracing::warn!(
            "nobody is signed in: no tool is shown and every call is refused; name a caller under [stdio] or with --as"
        ),
    }
}

/// Ready when the process is asked to end.
fn asked_to_stop() -> Result<impl Future<Output = ()> + Send> {
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    Ok(async move {
        #[cfg(unix)]
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        #[cfg(not(unix))]
        // Without a way to hear of it the end of standard input remains.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
