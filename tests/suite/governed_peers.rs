//! Real clients and real servers with the gateway between them: what they say to each other is what they say directly, less
//! what the listeners take away.

mod clients_of_the_sdk;
mod lines;

use std::ffi::OsString;
use std::path::Path;

use callgate_tests::gateway::{Configuration, Gateway};
use callgate_tests::peers;
use serde_json::{Value, json};

/// A server, what a reader may have of it, and calls that have the same answer each time.
struct Peer {
    name: &'static str,
    server: Vec<OsString>,
    /// Patterns of the tools that the mode gives to a reader.
    given: &'static [&'static str],
    hidden: &'static [&'static str],
    calls: Vec<Value>,
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "call": name, "arguments": arguments })
}

fn everything() -> Peer {
    Peer {
        name: "everything",
        server: peers::everything(),
        given: &["echo", "get-*-*", "get-sum", "trigger-*"],
        hidden: &[
            "get-env",
            "gzip-file-as-resource",
            "toggle-simulated-logging",
            "toggle-subscriber-updates",
            "simulate-research-query",
        ],
        calls: vec![
            call("echo", json!({ "message": "héllo ✋ \u{2028}" })),
            call("get-sum", json!({ "a": 2, "b": 40.5 })),
            call("get-sum", json!({ "a": "two" })),
            call("get-structured-content", json!({ "location": "Chicago" })),
            call("get-annotated-message", json!({ "messageType": "error", "includeImage": true })),
            call("get-tiny-image", json!({})),
            call("get-resource-links", json!({ "count": 2 })),
            call("trigger-long-running-operation", json!({ "duration": 0.1, "steps": 2 })),
        ],
    }
}

/// The file server over a folder with a file in it.
fn filesystem(folder: &Path) -> Peer {
    std::fs::write(folder.join("note.txt"), "remember\n").unwrap();
    Peer {
        name: "filesystem",
        server: peers::filesystem(folder),
        given: &["read_*", "list_*", "search_files"],
        hidden: &["write_file", "edit_file", "create_directory", "directory_tree", "move_file", "get_file_info"],
        calls: vec![
            call("read_text_file", json!({ "path": folder.join("note.txt") })),
            call("read_multiple_files", json!({ "paths": [folder.join("note.txt"), folder.join("absent")] })),
            call("list_directory", json!({ "path": folder })),
            call("list_allowed_directories", json!({})),
            call("search_files", json!({ "path": folder, "pattern": "*.txt" })),
            call("read_text_file", json!({ "path": "/etc/hostname" })),
        ],
    }
}

fn python() -> Peer {
    Peer {
        name: "python",
        server: peers::python_server(),
        given: &["greet", "add", "fail"],
        hidden: &["record", "slow"],
        calls: vec![
            call("greet", json!({ "name": "Ada" })),
            call("add", json!({ "a": 1, "b": 2 })),
            call("add", json!({ "a": 1 })),
            call("fail", json!({ "reason": "as asked" })),
        ],
    }
}

impl Peer {
    /// The gateway in front of it: a mode that takes tools away, and listeners that have nothing against the rest.
    fn governed(&self) -> Gateway {
        Configuration::new()
            .upstream(self.name, &self.server)
            .listener("agent-mode", &format!("roles = {{ writer = {} }}", json!(self.given)))
            .listener("approval-gate", &format!("tools = {}", json!(self.hidden)))
            .listener("idempotency-ledger", "")
            .listener("audit-trail", "")
            .write()
    }

    fn hides(&self, tool: &Value) -> bool {
        self.hidden.iter().any(|hidden| tool["name"] == *hidden)
    }

    /// What a listing says through the gateway, given what it says directly: without what is hidden, and without a word of
    /// tasks, which are taken out of the negotiation (W5).
    fn without_hidden(&self, listing: &Value) -> Value {
        let mut listing = listing.clone();
        let tools = listing["tools"].as_array_mut().unwrap();
        let before = tools.len();
        tools.retain(|tool| !self.hides(tool));
        assert_eq!(tools.len() + self.hidden.len(), before, "everything that is to be hidden is there directly");
        for tool in tools {
            if let Some(execution) = tool.get_mut("execution").and_then(Value::as_object_mut) {
                execution.remove("taskSupport");
            }
        }
        listing
    }
}
