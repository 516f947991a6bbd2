//! `cargo xtask bench` and `cargo xtask soak`, on guests that are up to date.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{guests, peers, process};

/// What governance costs, in one run.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    guests::build(workspace)?;
    peers::install_python(workspace)?;
    guests::build_other_languages(workspace)?;
    bench(workspace, "events", arguments)
}

/// What many calls and many loads leave behind.
pub(crate) fn soak(workspace: &Workspace) -> Result<()> {
    guests::build(workspace)?;
    bench(workspace, "soak", &[])
}

/// Names the whole workspace, so that nothing is built twice.
fn bench(workspace: &Workspace, name: &str, arguments: &[String]) -> Result<()> {
    let mut cargo = workspace.cargo("bench");
    cargo.args(["--workspace", "--locked", "--bench", name, "--"]).args(arguments);
    process::run(&mut cargo)
}
