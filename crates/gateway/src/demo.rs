//! `callgate demo`: one governed session that a newcomer can follow, through the real program and the real protocol.

mod script;
mod stage;
mod cast;
mod server;
mod narrator;

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;

use cast::Cast;
use narrator::Narrator;
use stage::Stage;

pub(crate) use server::server;

/// Options of `callgate demo`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Governs this MCP server, and calls two of its tools that seem harmless: a program and its arguments, quoted as in a shell.
    #[arg(long, value_name = "COMMAND")]
    upstream: Option<String>,
    /// The folder with the example listeners as components.
    #[arg(long, value_name = "DIR", default_value = "target/guests/wasm32-wasip2/release")]
    components: PathBuf,
}

pub(crate) async fn run(options: Options, out: &mut impl Write) -> Result<()> {
    let program = std::env::current_exe().context("the path of this program is not known")?;
    let program = program.into_os_string().into_string().ok().context("the path of this program is no UTF-8")?;
    let (command, own) = match &options.upstream {
        Some(command) => (split(command)?, false),
        None => (vec![program.clone(), "demo-server".into()], true),
    };
    let cast = if own { Cast::of_own_server() } else { Cast::of(&command).await? };
    let stage = Stage::set(program, &command, &options.components, &cast)?;
    script::play(&stage, &cast, &mut Narrator::new(out)).await
}

fn split(command: &str) -> Result<Vec<String>> {
    let words = shlex::split(command).context("--upstream: a quote is not closed")?;
    anyhow::ensure!(!words.is_empty(), "--upstream: the command is empty");
    Ok(words)
}
