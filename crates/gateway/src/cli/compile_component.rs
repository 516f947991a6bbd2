//! `callgate compile-component`: compiles one component for another process of this program.

use std::io;

use anyhow::{Context, Result};

pub(super) fn run() -> Result<()> {
    callgate_wasm::compile_for_parent(io::stdin().lock(), io::stdout().lock())
        .context("this command is for callgate itself, which starts it to load a component")
}
