//! Clients that run to their end and tell what they were answered.

use std::ffi::OsString;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::peers;

/// How the Python client begins: by asking which era the server is of, or with the older handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `server/discover` first, then whatever the server understands.
    Auto,
    /// `initialize`.
    Legacy,
}

/// Runs the steps against the server on the Python SDK's client; gives one answer for each step.
pub fn python(mode: Mode, steps: &Value, server: &[OsString]) -> Vec<Value> {
    let mode = match mode {
        Mode::Auto => "auto",
        Mode::Legacy => "legacy",
    };
    let options = ["--mode", mode, "--steps", &steps.to_string(), "--"].map(OsString::from);
    let output = run(&[peers::python_client(), options.to_vec(), server.to_vec()].concat());
    let lines = output.lines().map(|line| serde_json::from_str(line).expect("the client prints JSON"));
    lines.collect()
}

/// Lists the server's tools with the Inspector.
pub fn inspector_lists(server: &[OsString]) -> Value {
    inspector(server, &["--method", "tools/list"])
}

/// Calls a tool with the Inspector. Arguments are given as `name=value`.
pub fn inspector_calls(server: &[OsString], tool: &str, arguments: &[&str]) -> Value {
    let mut options = vec!["--method", "tools/call", "--tool-name", tool];
    for argument in arguments {
        options.extend(["--tool-arg", argument]);
    }
    inspector(server, &options)
}

fn inspector(server: &[OsString], options: &[&str]) -> Value {
    let options = options.iter().map(OsString::from).collect();
    let output = run(&[peers::inspector(), server.to_vec(), options].concat());
    serde_json::from_str(&output).expect("the Inspector prints JSON")
}

/// Runs a program to its end and gives what it printed. Panics, with both of its streams, if it ends badly.
fn run(line: &[OsString]) -> String {
    let (program, arguments) = line.split_first().expect("a command has a program");
    let output =
        Command::new(program).args(arguments).stdin(Stdio::null()).output().expect("the program can be started");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let Output { status, stdout, stderr } = output;
    assert!(status.success(), "{} {status}\n{}\n{}", program.display(), text(&stdout), text(&stderr));
    text(&stdout)
}
