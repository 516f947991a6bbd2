use std::fmt::Write;
use std::path::Path;

use callgate_tests::clients::{self, Mode};
use serde_json::{Value, json};

use super::{Peer, call, everything, filesystem, python};
use crate::peers::names;

/// A session through the gateway as a text, after it was compared with the same session without it.
fn compared(peer: &Peer, mode: Mode) -> String {
    let hidden = peer.hidden.iter().map(|name| call(name, json!({})));
    let absent = call("no_such_tool", json!({}));
    let mut steps = vec![json!({ "server": true }), json!({ "list": true })];
    steps.extend(peer.calls.iter().cloned());
    let direct = clients::python(mode, &json!(steps), &peer.server);
    steps.extend(hidden.chain([absent]));
    let through = clients::python(mode, &json!(steps), &peer.governed().serve());

    assert_eq!(through.len(), steps.len());
    let mut text = format!("{} {}\n", peer.name, direct[0]["protocol"].as_str().unwrap());
    for (number, (step, answer)) in steps.iter().zip(&through).enumerate() {
        match direct.get(number) {
            Some(direct) if step.get("list").is_some() => assert_eq!(*answer, peer.without_hidden(direct)),
            Some(direct) => assert_eq!(answer, direct, "{step}"),
            None => {
                let message = format!("Error: Unknown tool '{}'.", step["call"].as_str().unwrap());
                assert_eq!(*answer, json!({ "error": { "code": -32602, "message": message } }));
            }
        }
        let answer = if step.get("list").is_some() { json!(names(answer)) } else { shortened(answer) };
        write!(text, "\n> {step}\n< {answer}\n").unwrap();
    }
    text
}

/// The answer with long texts cut: images are compared above and read by nobody.
fn shortened(answer: &Value) -> Value {
    match answer {
        Value::String(text) if text.len() > 200 => format!("({} bytes)", text.len()).into(),
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), shortened(value))).collect(),
        other => other.clone(),
    }
}

fn snapshot(name: &str, text: &str, folder: Option<&Path>) {
    let text = match folder {
        Some(folder) => text.replace(&*folder.to_string_lossy(), "[folder]"),
        None => text.to_owned(),
    };
    insta::with_settings!({ snapshot_path => "../snapshots", prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn w2_everything_answers_a_python_client_as_it_does_directly() {
    let transcript = compared(&everything(), Mode::Auto);
    assert_eq!(transcript, compared(&everything(), Mode::Legacy));
    snapshot("everything", &transcript, None);
}

#[test]
fn w2_filesystem_answers_a_python_client_as_it_does_directly() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let transcript = compared(&filesystem(&folder), Mode::Auto);
    snapshot("filesystem", &transcript, Some(&folder));
}

#[test]
fn w2_a_python_server_answers_a_python_client_as_it_does_directly_in_both_eras() {
    snapshot("python-modern", &compared(&python(), Mode::Auto), None);
    snapshot("python-legacy", &compared(&python(), Mode::Legacy), None);
}

#[test]
fn w2_the_inspector_lists_and_calls_as_it_does_directly() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let path = format!("path={}", folder.join("note.txt").display());
    for (peer, tool, argument) in
        [(everything(), "echo", "message=hi"), (filesystem(&folder), "read_text_file", path.as_str())]
    {
        let gateway = peer.governed();
        let listing = clients::inspector_lists(&peer.server);
        assert_eq!(clients::inspector_lists(&gateway.script()), peer.without_hidden(&listing));
        let direct = clients::inspector_calls(&peer.server, tool, &[argument]);
        assert!(direct["content"][0]["text"].is_string(), "{direct}");
        assert_eq!(clients::inspector_calls(&gateway.script(), tool, &[argument]), direct);
    }
}
