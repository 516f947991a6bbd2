//! Builds the program that holds all targets and libFuzzer.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::instrument;
use crate::process::succeeds;
use crate::workspace::Workspace;

/// The program, up to date.
pub(super) fn build(workspace: &Workspace) -> Result<PathBuf> {
    let engine = libfuzzer(workspace)?;
    let mut cargo = workspace.cargo("test");
    // The whole workspace and a test of it, so that features are chosen as for all other tests: dependencies are shared, and
    // only the crates of the workspace are built a second time.
    cargo.args([
        "--workspace",
        "--locked",
        "--quiet",
        "--features",
        "callgate-fuzz/engine",
        "--test",
        "fuzz",
        "--no-run",
    ]);
    instrument::wrap(&mut cargo, workspace, &engine)?;
    let built = messages(&mut cargo)?;
    let ours = built.iter().filter(|it| it.pointer("/target/name").is_some_and(|name| name == "fuzz"));
    let program = ours.filter_map(|it| it.get("executable")?.as_str()).next();
    program.map(PathBuf::from).context("cargo did not say where the fuzz program is")
}

/// The folder with libFuzzer, built from the sources that libfuzzer-sys carries.
fn libfuzzer(workspace: &Workspace) -> Result<PathBuf> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "c++".into());
    if !succeeds(Command::new(&compiler).arg("--version")) {
        bail!(
            "libFuzzer is C++, and there is no compiler for it ({compiler}): install one, for example with \
             `apt-get install g++`, or name it in the environment variable CXX"
        );
    }
    let mut cargo = workspace.cargo("build");
    cargo
        .args(["--locked", "--release", "--quiet", "--manifest-path"])
        .arg(workspace.path("tests/fuzz/engine/Cargo.toml"));
    cargo.arg("--target-dir").arg(workspace.target("fuzz/engine"));
    let built = messages(&mut cargo)?;
    let folders = built.iter().filter_map(|it| it.get("out_dir")?.as_str());
    let folder = folders.map(Path::new).find(|folder| folder.join("libfuzzer.a").exists());
    folder.map(Path::to_owned).context("the build of libfuzzer-sys left no libfuzzer.a")
}

/// Runs cargo to its end and returns what it says for programs.
fn messages(cargo: &mut Command) -> Result<Vec<Value>> {
    let output = cargo.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        bail!("the fuzz targets do not build");
    }
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    lines.lines().map(|line| serde_json::from_str(line).context("a message of cargo")).collect()
}
