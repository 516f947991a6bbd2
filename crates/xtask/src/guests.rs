//! Listeners as components: the examples and the tests' fixtures.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::peers;
use crate::process::run;
use crate::setup::{self, WASM_TARGET};
use crate::workspace::Workspace;

/// Where the components in Rust end up.
pub(crate) fn components(workspace: &Workspace) -> PathBuf {
    workspace.target("guests").join(WASM_TARGET).join("release")
}

/// Builds every guest that is written in Rust.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    setup::wasm_target(workspace)?;
    for manifest in workspace.guest_manifests() {
        run(workspace
            .cargo("build")
            .args(["--locked", "--release", "--target", WASM_TARGET, "--target-dir"])
            .arg(workspace.target("guests"))
            .arg("--manifest-path")
            .arg(manifest))?;
    }
    Ok(())
}

/// Lints every guest that is written in Rust, its tests included.
pub(crate) fn lint(workspace: &Workspace) -> Result<()> {
    for manifest in workspace.guest_manifests() {
        run(workspace
            .cargo("clippy")
            .args(["--locked", "--quiet", "--all-targets", "--target-dir"])
            .arg(workspace.target("guests"))
            .arg("--manifest-path")
            .arg(manifest)
            .args(["--", "-D", "warnings"]))?;
    }
    Ok(())
}

/// Builds the guests in other languages: each folder of `tests/toolchains` has a `build.sh` that is given the folder to
/// leave its components in.
pub(crate) fn build_other_languages(workspace: &Workspace) -> Result<()> {
    let folder = workspace.path("tests/toolchains");
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(&folder).context("tests/toolchains can not be read")? {
        let entry = entry?;
        let script = entry.path().join("build.sh");
        if script.exists() {
            run(peers::with_path(
                workspace,
                workspace.command("sh").arg(script).arg(workspace.target("guests").join(entry.file_name())),
            )?)?;
        }
    }
    Ok(())
}
