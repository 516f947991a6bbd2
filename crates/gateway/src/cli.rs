//! The command line: what can be asked, and the process around it.

mod log;
mod serve;
mod check;
mod explain;
mod approve;
mod state;
mod demo_server;
mod compile_component;

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use callgate_core::listener::Hooks;
use callgate_wasm::Hook;
use clap::{Args, Parser, Subcommand};

use crate::assemble;
use crate::config::{self, Problems};
use crate::demo;

/// Governs the tool calls of AI agents: listeners decide what callers see, what runs and what is recorded.
#[derive(Debug, Parser)]
#[command(name = "callgate", version)]
struct Cli {
    #[command(flatten)]
    log: log::LogOptions,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves one session over standard input and output, in front of the configured servers.
    Serve(serve::Options),
    /// Loads everything that the configuration names and says what would happen.
    Check(ConfigFile),
    /// Says what a call would come to and why, without running it.
    Explain(explain::Options),
    /// Lets one denied call through, or lists the calls that wait for it.
    Approve(approve::Options),
    /// Shows or removes what a listener keeps.
    #[command(subcommand)]
    State(state::Action),
    /// Prints the JSON Schema of the configuration file.
    #[command(alias = "config-schema")]
    Schema,
    /// Runs one governed session and explains each step.
    Demo(demo::Options),
    /// Serves the demonstration's own tools over standard input and output.
    #[command(hide = true)]
    DemoServer,
    /// Compiles a component from standard input for the process that started this one.
    #[command(hide = true, name = assemble::COMPILE)]
    CompileComponent,
}

/// Where the configuration is.
#[derive(Debug, Args)]
struct ConfigFile {
    /// The configuration file.
    #[arg(long, value_name = "FILE", default_value = "callgate.toml")]
    config: PathBuf,
}

impl ConfigFile {
    fn load(&self) -> Result<config::Config, Problems> {
        config::Config::load(&self.config)
    }
}

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    match logged(cli) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where standard error is gone, the exit code still tells.
            let _ = writeln!(io::stderr(), "{}", described(&error));
            ExitCode::FAILURE
        }
    }
}

/// Everything is in the log when this returns.
fn logged(cli: Cli) -> Result<()> {
    let _log = log::start(&cli.log, matches!(cli.command, Command::Serve(_))).context("no thread for the log")?;
    match cli.command {
        // It limits its process, so there are no threads but those that compile.
        Command::CompileComponent => compile_component::run(),
        command => in_runtime(command),
    }
}

fn in_runtime(command: Command) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("no runtime")?;
    let result = runtime.block_on(execute(command, &mut io::stdout()));
    // A thread that waits for standard input can not be woken; everything else has ended by now.
    runtime.shutdown_timeout(Duration::from_millis(500));
    result
}

async fn execute(command: Command, out: &mut impl Write) -> Result<()> {
    match command {
        Command::Serve(options) => serve::run(options).await,
        Command::Check(file) => check::run(&file.load()?, out).await,
        Command::Explain(options) => explain::run(options, out).await,
        Command::Approve(options) => approve::run(options, out).await,
        Command::State(action) => state::run(action, out).await,
        Command::Schema => Ok(writeln!(out, "{}", serde_json::to_string_pretty(&config::json_schema())?)?),
        Command::Demo(options) => demo::run(options, out).await,
        Command::DemoServer => demo_server::run().await,
        Command::CompileComponent => compile_component::run(),
    }
}

/// Problems of a file start their lines with its name, so that editors and people find the place.
fn described(error: &anyhow::Error) -> String {
    match error.downcast_ref::<Problems>() {
        Some(problems) => problems.to_string(),
        None => format!("callgate: {error:#}"),
    }
}

/// The hooks that a listener is asked.
fn hook_names(hooks: Hooks) -> Vec<&'static str> {
    let all = [(hooks.grant, Hook::Grant), (hooks.before_call, Hook::BeforeCall), (hooks.after_call, Hook::AfterCall)];
    all.into_iter().filter(|(has, _)| *has).map(|(_, hook)| hook.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_has_no_contradictions() {
        Cli::command().debug_assert();
    }

    #[test]
    fn problems_are_printed_as_they_are() {
        let problem = config::Problem { file: "a.toml".into(), line: Some(3), reason: "odd".into() };
        assert_eq!(described(&Problems::from(problem).into()), "a.toml:3: odd");
        assert_eq!(described(&anyhow::anyhow!("inner").context("outer")), "callgate: outer: inner");
    }
}
