//! `cargo xtask mutants`: does a test fail when a deciding module decides otherwise?

use anyhow::Result;

use crate::process;
use crate::process::succeeds;
use crate::workspace::Workspace;

const VERSION: &str = "27.1.0";

/// The modules of callgate-core that decide something about a call.
const DECIDING: [&str; 7] = ["answers", "binding", "dispatcher", "grant", "meta", "permissions", "request"];

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let tools = workspace.target("tools");
    let program = tools.join("bin/cargo-mutants");
    if !succeeds(workspace.command(&program).arg("--version")) {
        let mut install = workspace.cargo("install");
        process::run(install.args(["cargo-mutants", "--locked", "--version", VERSION, "--root"]).arg(&tools))?;
    }
    let mut mutants = workspace.command(&program);
    mutants.args(["mutants", "--package", "callgate-core", "--output"]).arg(workspace.target("mutants"));
    for module in DECIDING {
        mutants.arg("--file").arg(format!("crates/core/src/{module}.rs"));
        mutants.arg("--file").arg(format!("crates/core/src/{module}/**/*.rs"));
    }
    process::run(mutants.args(arguments))
}
