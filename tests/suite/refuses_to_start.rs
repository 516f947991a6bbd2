//! A gate that is missing must not be a gate that is open: `serve` does not start, names listener, file and reason, and has
//! started no server by then. What else it refuses is shown beside the command line, in its own crate.

use std::fs;
use std::path::{Path, PathBuf};

use callgate_tests::built::guest;
use callgate_tests::gateway::{Configuration, Gateway};

/// A configuration with one gate, whose component is in that file, and a server that leaves a file when it is started.
fn gated(file: &Path, options: &str) -> Gateway {
    let server = ["sh", "-c", "touch started; cat"].map(Into::into);
    Configuration::new().upstream("files", &server).and("cwd = \".\"").component("gate", file, options, "").write()
}

/// Runs `serve`, which has to end by itself, having said all of this to standard error and nothing to anybody else.
#[track_caller]
fn refused(gateway: &Gateway, says: &[&str]) {
    let output = gateway.run("serve", &[]);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "it started: {text}");
    assert_eq!(output.stdout, b"");
    for part in says {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
    assert!(!gateway.folder().join("started").exists(), "a server was started before the gates were there");
}

fn file(folder: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}

#[test]
fn f1_no_server_is_started_without_every_gate() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fs::read(guest("agent_mode")).unwrap();
    let page = b"<!DOCTYPE html>\n<html><body>Not Found</body></html>";
    let cases: [(&str, &[u8], &str); 5] = [
        ("truncated.wasm", &whole[..whole.len() / 2], "the file is truncated"),
        ("page.wasm", page, "it is an HTML page"),
        ("core.wasm", b"\0asm\x01\0\0\0", "it is a core WebAssembly module"),
        ("other-world.wasm", b"\0asm\x0d\0\x01\0", "it exports no hook"),
        ("empty.wasm", b"", "the file is empty"),
    ];
    for (name, content, reason) in cases {
        refused(&gated(&file(folder.path(), name, content), ""), &["listener 'gate'", name, reason]);
    }
    refused(&gated(&folder.path().join("missing.wasm"), ""), &["listener 'gate'", "missing.wasm", "no such file"]);
    let pin = format!("sha256 = \"{}\"", "0".repeat(64));
    refused(&gated(&guest("agent_mode"), &pin), &["listener 'gate'", "agent_mode.wasm", "pins 000000"]);
    refused(&gated(&guest("agent_mode"), "deadline = 50"), &["unknown field `deadline`"]);
}

/// Without this the test above would prove little: with its gate the same configuration starts the server.
#[test]
fn f1_the_server_is_started_once_the_gates_are_there() {
    let gateway = gated(&guest("agent_mode"), "");
    let output = gateway.run("serve", &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(gateway.folder().join("started").exists());
}
