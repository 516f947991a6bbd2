//! Programs from the registries, as `cargo xtask peers` installs them. Each function gives a command and its arguments.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::built::root;

/// A program and its arguments.
pub type CommandLine = Vec<OsString>;

/// The `everything` server.
pub fn everything() -> CommandLine {
    vec![node(), module("@modelcontextprotocol/server-everything/dist/index.js").into(), "stdio".into()]
}

/// The `filesystem` server over that folder.
pub fn filesystem(folder: &Path) -> CommandLine {
    vec![node(), module("@modelcontextprotocol/server-filesystem/dist/index.js").into(), folder.into()]
}

/// The server on the Python SDK: `tests/peers/server.py` says what its tools do.
pub fn python_server() -> CommandLine {
    vec![python(), root().join("tests/peers/server.py").into()]
}

/// The client on the Python SDK: `tests/peers/client.py` says what steps it takes.
pub fn python_client() -> CommandLine {
    vec![python(), root().join("tests/peers/client.py").into()]
}

/// The Inspector's command line as a client.
pub fn inspector() -> CommandLine {
    vec![node(), module("@modelcontextprotocol/inspector/clients/launcher/build/index.js").into(), "--cli".into()]
}

fn node() -> OsString {
    installed("bin/node").into()
}

fn python() -> OsString {
    installed("venv/bin/python").into()
}

fn module(relative: &str) -> PathBuf {
    installed("npm/node_modules").join(relative)
}

fn installed(relative: &str) -> PathBuf {
    let path = root().join("target/peers").join(relative);
    assert!(path.exists(), "{} is not there: `cargo xtask peers` installs it", path.display());
    path
}
