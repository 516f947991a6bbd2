//! This program in the place of rustc: it has the workspace's own crates count which branches they take.
//!
//! Cargo calls a workspace wrapper for the crates of the workspace only, so that all dependencies, the sandbox among them,
//! are those of an ordinary build.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// Tells a wrapper that it is one, and where libFuzzer is.
const ENGINE: &str = "CALLGATE_FUZZ_ENGINE";

/// What LLVM is told, through flags of a stable rustc: a counter for each edge, and the operands of each comparison.
const FLAGS: [&str; 8] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "-Copt-level=2",
    "-Coverflow-checks=on",
];

/// Has that cargo build with instruments.
pub(super) fn wrap(cargo: &mut Command, workspace: &Workspace, engine: &Path) -> Result<()> {
    // Cargo knows a wrapper by its path alone, so other flags need another one.
    let mut flags = DefaultHasher::new();
    FLAGS.hash(&mut flags);
    let wrapper = workspace.target("fuzz").join(format!("rustc-{:016x}", flags.finish()));
    // A build meanwhile may have put another file in the place of this program. Where there is such a name, it is this one.
    let running = PathBuf::from("/proc/self/exe");
    let itself = if running.exists() { running } else { env::current_exe().context("where is this program?")? };
    fs::create_dir_all(workspace.target("fuzz")).context("the folder of the fuzz targets can not be made")?;
    fs::copy(itself, &wrapper).context("the wrapper of rustc can not be written")?;
    // Incremental builds split a crate into units that are instrumented one by one.
    cargo.env("RUSTC_WORKSPACE_WRAPPER", wrapper).env(ENGINE, engine).env("CARGO_INCREMENTAL", "0");
    Ok(())
}

/// Where this program was called by cargo in the place of rustc: calls rustc.
pub(crate) fn as_rustc() -> Option<ExitCode> {
    let engine = env::var_os(ENGINE)?;
    let mut arguments = env::args_os().skip(1);
    let mut rustc = Command::new(arguments.next()?);
    let arguments: Vec<_> = arguments.collect();
    rustc.args(&arguments).args(additions(&arguments, &engine));
    let status = rustc.status().ok()?;
    Some(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is added to a call of rustc for one of our crates. Build scripts and macros run inside the build, without libFuzzer,
/// and a question to rustc names no crate.
fn additions(arguments: &[OsString], engine: &OsString) -> Vec<OsString> {
    let after = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1)?.to_str()
    };
    let ours = |name: &str| name == "fuzz" || name.starts_with("callgate_");
    let Some(name) = after("--crate-name").filter(|name| ours(name)) else { return Vec::new() };
    if after("--crate-type") == Some("proc-macro") {
        return Vec::new();
    }
    let mut added: Vec<OsString> = FLAGS.iter().map(Into::into).collect();
    if name == "fuzz" {
        let mut folder = OsString::from("-Lnative=");
        folder.push(engine);
        added.extend([folder, "-lstatic=fuzzer".into(), "-lstdc++".into()]);
    }
    added
}

#[cfg(test)]
mod unit {
    use super::*;

    fn added(arguments: &[&str]) -> usize {
        let arguments: Vec<OsString> = arguments.iter().map(Into::into).collect();
        additions(&arguments, &"engine".into()).len()
    }

    #[test]
    fn only_what_becomes_part_of_the_fuzz_program_has_instruments() {
        assert_eq!(added(&["--crate-name", "callgate_core", "--crate-type", "lib"]), FLAGS.len());
        assert_eq!(added(&["--crate-name", "fuzz", "--test"]), FLAGS.len() + 3);
        assert_eq!(added(&["--crate-name", "build_script_build", "--crate-type", "bin"]), 0);
        assert_eq!(added(&["--crate-name", "callgate_macros", "--crate-type", "proc-macro"]), 0);
        assert_eq!(added(&["-vV"]), 0);
    }
}
