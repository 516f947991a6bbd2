//! `cargo xtask bench`: every benchmark, on guests that are up to date.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{guests, process};

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    guests::build(workspace)?;
    process::run(workspace.cargo("bench").args(["--workspace", "--locked", "--benches"]).args(arguments))
}
