//! What has to be there before anything is built.

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::Workspace;

/// The target that guests are built for.
pub(crate) const WASM_TARGET: &str = "wasm32-wasip2";

/// Adds the target that guests are built for, unless the toolchain has it.
pub(crate) fn wasm_target(workspace: &Workspace) -> Result<()> {
    if has_wasm_target(workspace)? {
        return Ok(());
    }
    if process::run(workspace.command("rustup").args(["target", "add", WASM_TARGET])).is_err()
        || !has_wasm_target(workspace)?
    {
        bail!(
            "this Rust toolchain can not build for {WASM_TARGET}, and rustup could not add it: run `rustup target add \
             {WASM_TARGET}` where rustup's server is reached, or install the standard library for {WASM_TARGET} of \
             exactly this rustc from your distribution"
        );
    }
    Ok(())
}

fn has_wasm_target(workspace: &Workspace) -> Result<bool> {
    let sysroot = process::capture(workspace.command("rustc").args(["--print", "sysroot"]))
        .context("Rust is needed, with rustc in PATH")?;
    Ok(std::path::Path::new(&sysroot).join("lib/rustlib").join(WASM_TARGET).join("lib").is_dir())
}
