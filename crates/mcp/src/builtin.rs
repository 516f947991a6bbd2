//! The server that speaks for native tools: the handshake and the probe, in both eras. Listings and calls never come here;
//! they are governed, and a native tool runs in the process itself.

use std::sync::Arc;

use callgate_core::Json;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::mpsc;

use crate::convert::own_result;
use crate::edit;
use crate::envelope::{self, Message, Request, code, read_upstream};
use crate::era::{Era, LEGACY_VERSIONS, MODERN_VERSION, VERSION_KEY};
use crate::lines::{Line, MAX_CLIENT_LINE, read_line, write_lines};
use crate::upstream::{Connection, Reader};

/// What the built-in server is called among upstreams.
const NAME: &str = "native tools";

/// A connection to the built-in server.
pub(crate) fn open(name: &str, version: &str) -> (Arc<Connection>, Reader) {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (reader, writer) = tokio::io::split(theirs);
    let server_info = json!({ "name": name, "version": version });
    tokio::spawn(serve(reader, writer, server_info));
    Connection::over_stream(NAME, ours)
}

async fn serve(
    reader: impl AsyncRead + Unpin + Send,
    writer: impl AsyncWrite + Unpin + Send + 'static,
    server_info: Value,
) {
    let (replies, mut receiver) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        // Where nobody reads any more the session is over, and so is this.
        let _ = write_lines(writer, stream::poll_fn(|context| receiver.poll_recv(context))).await;
    });
    let mut reader = BufReader::new(reader);
    while let Ok(Some(Line::Text(line))) = read_line(&mut reader, MAX_CLIENT_LINE).await {
        if let Some(Message::Request(request)) = read_upstream(&line)
            && replies.send(reply(&request, &server_info)).is_err()
        {
            return;
        }
    }
}

fn reply(request: &Request, server_info: &Value) -> Json {
    let line = request.line.as_str();
    let text = |path: &[&str]| edit::get(line, path).and_then(|raw| serde_json::from_str::<String>(raw).ok());
    if let Some(requested) = text(&["params", "_meta", VERSION_KEY]).filter(|version| version != MODERN_VERSION) {
        let data = json!({ "supported": [MODERN_VERSION], "requested": requested });
        let message = "Unsupported protocol version";
        let error = json!({ "code": code::UNSUPPORTED_VERSION, "message": message, "data": data });
        return envelope::with_error(Some(&request.id), &error.into());
    }
    let result = match request.method.as_str() {
        "initialize" => {
            let requested = text(&["params", "protocolVersion"]);
            let [newest, ..] = LEGACY_VERSIONS;
            let version = LEGACY_VERSIONS.into_iter().find(|it| requested.as_deref() == Some(it)).unwrap_or(newest);
            json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": server_info })
        }
        "server/discover" => json!({
            "supportedVersions": [MODERN_VERSION],
            "capabilities": { "tools": {} },
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": { "io.modelcontextprotocol/serverInfo": server_info },
        }),
        "ping" => json!({}),
        _ => return envelope::error(Some(&request.id), code::METHOD_NOT_FOUND, "Method not found"),
    };
    let era = if request.method == "server/discover" { Era::Modern } else { Era::of(&request.line) };
    envelope::result(&request.id, &own_result(result.into(), era))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(line: &str) -> Value {
        let Some(Message::Request(request)) = read_upstream(line.as_bytes()) else { panic!("no request") };
        serde_json::from_str(reply(&request, &json!({"name": "n", "version": "1"})).as_str()).unwrap()
    }

    #[test]
    fn the_handshake_settles_on_a_revision_that_is_spoken() {
        for (requested, agreed) in [
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2024-11-05", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
        ] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{requested}"}}}}"#
            );
            let result = &asked(&line)["result"];
            assert_eq!(result["protocolVersion"], agreed);
            assert!(result.get("resultType").is_none());
        }
    }

    #[test]
    fn the_probe_of_the_modern_era_is_answered_and_other_revisions_are_named() {
        let discover = |version| {
            asked(&format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{{"{VERSION_KEY}":"{version}"}}}}}}"#
            ))
        };
        let result = &discover("2026-07-28")["result"];
        assert_eq!(
            (&result["supportedVersions"][0], &result["resultType"]),
            (&json!("2026-07-28"), &json!("complete"))
        );
        let error = &discover("2027-01-01")["error"];
        assert_eq!((&error["code"], &error["data"]["supported"][0]), (&json!(-32022), &json!("2026-07-28")));
    }

    #[test]
    fn what_it_does_not_have_is_no_method() {
        assert_eq!(asked(r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#)["error"]["code"], -32601);
        assert_eq!(asked(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)["result"], json!({}));
    }
}
