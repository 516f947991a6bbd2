//! Set-up, demo and tests of the workspace: `cargo xtask COMMAND`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "progress on the terminal is what this program is for")]

mod test;
mod demo;
mod mutants;
mod bench;
mod fuzz;

mod checks;
mod guests;
mod peers;
mod setup;

mod process;
mod steps;
mod workspace;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::workspace::Workspace;

const USAGE: &str = "\
cargo xtask COMMAND

  setup             install what the guests are built with
  demo [ARGS…]      build everything and show one governed session; ARGS go to `callgate demo`
  test              every check and test, cheapest first; stops at the first that fails
  mutants [ARGS…]   mutate the modules of callgate-core that decide; ARGS go to `cargo mutants`
  bench [ARGS…]     what governance costs, in one run; `--json`, and the names of sections
  soak              many calls and many loads, and how memory grows meanwhile
  fuzz [ARGS…]      fuzz targets, a minute each; ARGS are targets, `--seconds N`, or a target and a file to try again
  guests            only build the guests, into target/guests
  peers             only install the peers from the registries, into target/peers";

fn main() -> ExitCode {
    if let Some(code) = fuzz::instrument::as_rustc() {
        return code;
    }
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    match run(&command, &arguments.collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: &str, rest: &[String]) -> Result<()> {
    let workspace = Workspace::locate()?;
    match command {
        "setup" => setup::wasm_target(&workspace),
        "demo" => demo::run(&workspace, rest),
        "test" => test::run(&workspace),
        "mutants" => mutants::run(&workspace, rest),
        "bench" => bench::run(&workspace, rest),
        "fuzz" => fuzz::run(&workspace, rest),
        "soak" => bench::soak(&workspace),
        "guests" => guests::build(&workspace),
        "peers" => peers::install(&workspace),
        "" | "help" | "-h" | "--help" => {
            println!("{USAGE}");
            Ok(())
        }
        unknown => bail!("there is no `{unknown}`\n\n{USAGE}"),
    }
}
