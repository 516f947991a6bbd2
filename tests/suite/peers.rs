//! The peers answer without callgate between them. What they say here is what they have to say through it.

use callgate_tests::clients::{self, Mode};
use callgate_tests::peers;
use serde_json::{Value, json};

/// The names of the tools in a listing, in the order in which they came.
pub(crate) fn names(tools: &Value) -> Vec<&str> {
    tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn the_python_client_speaks_both_eras_with_the_python_server() {
    let steps = json!([{"server": true}, {"list": true}, {"call": "add", "arguments": {"a": 1, "b": 2}}]);
    for (mode, protocol) in [(Mode::Auto, "2026-07-28"), (Mode::Legacy, "2025-11-25")] {
        let answers = clients::python(mode, &steps, &peers::python_server());
        assert_eq!(answers[0]["protocol"], protocol);
        assert_eq!(names(&answers[1]), ["greet", "add", "record", "slow", "fail"]);
        assert_eq!(answers[2]["result"]["structuredContent"], json!({"total": 3}));
    }
}

#[test]
fn the_python_client_calls_the_npm_servers() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("note.txt"), "remember").unwrap();
    let everything = json!([{"call": "echo", "arguments": {"message": "hi"}}]);
    let answers = clients::python(Mode::Auto, &everything, &peers::everything());
    assert_eq!(answers[0]["result"]["content"], json!([{"type": "text", "text": "Echo: hi"}]));

    let read = json!([{"call": "read_text_file", "arguments": {"path": folder.path().join("note.txt")}}]);
    let answers = clients::python(Mode::Legacy, &read, &peers::filesystem(folder.path()));
    assert_eq!(answers[0]["result"]["content"], json!([{"type": "text", "text": "remember"}]));
}

#[test]
fn the_inspector_lists_and_calls() {
    let listing = clients::inspector_lists(&peers::everything());
    assert!(names(&listing).contains(&"echo"));
    let answer = clients::inspector_calls(&peers::everything(), "echo", &["message=hi"]);
    assert_eq!(answer["content"], json!([{"type": "text", "text": "Echo: hi"}]));
}
