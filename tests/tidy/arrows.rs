//! Which crate reaches which: what is compiled into a library, not what its tests use.

use std::collections::BTreeSet;
use std::process::Command;

use callgate_tests::built::root;

use crate::tree::assert_none;

const SANDBOX: [&str; 4] = ["wasmtime", "wasmtime-wasi", "cranelift-codegen", "callgate-wasm"];
const HTTP: [&str; 7] = ["http", "hyper", "hyper-util", "h2", "axum", "reqwest", "tower"];
/// A guest's requests are sent by the sandbox, over single connections. It neither serves nor keeps clients.
const HTTP_BEYOND_A_CONNECTION: [&str; 4] = ["hyper-util", "axum", "reqwest", "tower"];
const MCP: [&str; 2] = ["rmcp", "callgate-mcp"];
const PROGRAM: [&str; 5] = ["anyhow", "clap", "rusqlite", "toml", "tracing-subscriber"];

/// Everything that the package is linked with, as `cargo tree -e normal` tells it.
fn reached(package: &str) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--package", package])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let tree = String::from_utf8(output.stdout).unwrap();
    tree.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

fn assert_reaches_none(package: &str, forbidden: &[&[&str]]) {
    let reached = reached(package);
    // Without this an empty answer would prove anything.
    assert!(reached.contains(package) && reached.len() > 1);
    let wrong = forbidden.iter().copied().flatten().filter(|name| reached.contains(**name));
    assert_none(&format!("{package} reaches"), &wrong.map(|name| (*name).to_owned()).collect::<Vec<_>>());
}

#[test]
fn core_knows_no_sandbox_no_http_and_no_mcp() {
    assert_reaches_none("callgate-core", &[&SANDBOX, &HTTP, &MCP, &PROGRAM]);
}

#[test]
fn the_sandbox_does_not_know_mcp() {
    assert_reaches_none(
        "callgate-wasm",
        &[&HTTP_BEYOND_A_CONNECTION, &MCP, &["clap", "rusqlite", "toml", "tracing-subscriber"]],
    );
}

#[test]
fn mcp_does_not_know_the_sandbox() {
    assert_reaches_none("callgate-mcp", &[&SANDBOX, &["rmcp"], &PROGRAM]);
}

#[test]
fn a_guest_knows_nothing_of_the_host() {
    assert_reaches_none("callgate-guest", &[&SANDBOX, &HTTP, &MCP, &["callgate-core", "tokio", "clap", "rusqlite"]]);
}

#[test]
fn the_binary_knows_all() {
    let reached = reached("callgate");
    for package in ["callgate-core", "callgate-wasm", "callgate-mcp", "wasmtime"] {
        assert!(reached.contains(package), "{package}");
    }
}
