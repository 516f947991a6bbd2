//! The smallest MCP server that a gateway can stand in front of: this program again, over stdio.

use std::io::{BufRead, Write};

use serde_json::{Value, json};

/// The argument that makes this program the server.
pub(crate) const ARGUMENT: &str = "--serve-as-upstream";

pub(crate) fn was_asked_for() -> bool {
    std::env::args().any(|argument| argument == ARGUMENT)
}

pub(crate) fn serve() {
    let (stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    for line in stdin.lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.expect("standard input can be read")) else { continue };
        let (Some(id), Some(method)) = (message.get("id"), message.get("method").and_then(Value::as_str)) else {
            continue;
        };
        let result = match method {
            "initialize" => json!({
                "protocolVersion": message.pointer("/params/protocolVersion"),
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "nothing", "version": "0" },
            }),
            "tools/list" => json!({ "tools": [{ "name": "read", "inputSchema": { "type": "object" } }] }),
            "tools/call" => json!({ "content": [{ "type": "text", "text": "nothing" }] }),
            "ping" => json!({}),
            _ => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                writeln!(stdout, "{}", json!({ "jsonrpc": "2.0", "id": id, "error": error })).expect("it is read");
                continue;
            }
        };
        writeln!(stdout, "{}", json!({ "jsonrpc": "2.0", "id": id, "result": result })).expect("it is read");
    }
}
