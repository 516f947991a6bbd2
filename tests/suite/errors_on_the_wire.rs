//! Table E, each row by a real call over a session, compared to the character and in the form that W1 gives it, in both eras.

mod behind_the_gateway;
mod in_process;

use callgate_tests::wire::Revision;
use serde_json::{Value, json};

/// One revision of each era.
const ERAS: [Revision; 2] = [Revision::November2025, Revision::July2026];

const INTERNAL: &str = "Error: An internal error occurred while executing the tool.";
const NOT_VERIFIED: &str = "Error: Tool access could not be verified.";
const NAMELESS: &str = "Error: Tool name is required.";

/// The whole response that is a tool result with that text.
fn tool_result(revision: Revision, id: u64, text: &str) -> Value {
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if revision == Revision::July2026 {
        result["resultType"] = "complete".into();
    }
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The whole response that is a protocol error with that text.
fn protocol_error(id: u64, text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32602, "message": text } })
}

fn unknown(name: &str) -> String {
    format!("Error: Unknown tool '{name}'.")
}
