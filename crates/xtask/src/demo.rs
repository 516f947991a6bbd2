//! `cargo xtask demo`: one governed session, from nothing.

use anyhow::Result;

use crate::workspace::Workspace;
use crate::{guests, process};

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    eprintln!("building the example listeners and callgate; the first time takes some minutes");
    guests::build(workspace)?;
    process::run(
        workspace
            .cargo("run")
            .args(["--locked", "--quiet", "--package", "callgate", "--", "demo", "--components"])
            .arg(guests::components(workspace))
            .args(arguments),
    )
}
