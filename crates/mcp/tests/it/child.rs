//! Upstreams that are child processes, and the client that looks at them.

use std::time::Duration;

use callgate_core::json::Json;
use callgate_mcp::envelope::Payload;
use callgate_mcp::{Client, Command, Era, Transport};

/// A server in a shell script: it answers each line in turn with what stands here, under the id that was asked with.
fn scripted(replies: &[&str], then: &str) -> Transport {
    let mut script = String::from(
        "reply() { read -r line; id=${line#*'\"id\":'}; id=${id%%,*}; echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$id,$1}\"; }\n",
    );
    for reply in replies {
        script += &match reply.strip_prefix('!') {
            // What expects no reply is only read.
            Some(_) => "read -r line\n".to_owned(),
            None => format!("reply '{reply}'\n"),
        };
    }
    script += then;
    let arguments = vec!["-c".to_owned(), script];
    Transport::Child(Command { program: "sh".into(), arguments, ..Command::default() })
}

const REFUSED: &str = r#""error":{"code":-32601,"message":"Method not found"}"#;

#[tokio::test]
async fn a_client_falls_back_to_the_handshake() {
    let server = scripted(
        &[
            REFUSED,
            r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}"#,
            "!initialized",
            r#""result":{"tools":[{"name":"a"}],"nextCursor":"1"}"#,
            r#""result":{"tools":[{"name":"b"}]}"#,
            r#""result":{"content":[],"n":1.0}"#,
        ],
        "",
    );
    let client = Client::open("scripted", server).await.unwrap();
    assert_eq!(client.era(), Era::Legacy);
    let tools: Vec<_> = client.list_tools().await.unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(tools, [r#"{"name":"a"}"#, r#"{"name":"b"}"#]);
    let response = client.call("a", &Json::empty_object()).await.unwrap();
    assert_eq!(response.payload, Payload::Result(Json::parse(r#"{"content":[],"n":1.0}"#).unwrap()));
    client.close().await;
}

#[tokio::test]
async fn a_child_that_ends_in_mid_request_is_lost() {
    let greeting = r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{}}"#;
    let client = Client::open("scripted", scripted(&[greeting], "read -r line; exit 3")).await.unwrap();
    assert_eq!(client.era(), Era::Modern);
    let lost = client.call("a", &Json::empty_object()).await.unwrap_err();
    assert_eq!(lost.to_string(), "the connection to upstream 'scripted' was lost while a request was under way");
    client.close().await;
}

#[tokio::test]
async fn a_child_that_does_not_end_by_itself_is_told_to() {
    let folder = std::env::temp_dir().join(format!("callgate-child-{}", std::process::id()));
    let greeting = r#""result":{"supportedVersions":["2026-07-28"],"capabilities":{}}"#;
    // It goes on when its input ends, and leaves a mark when it is told to end.
    let then = format!("trap 'echo told > {}; exit' TERM; while :; do sleep 0.05; done", folder.display());
    let client = Client::open("stubborn", scripted(&[greeting], &then)).await.unwrap();
    tokio::time::timeout(Duration::from_secs(60), client.close()).await.expect("the child is not ended");
    assert_eq!(std::fs::read_to_string(&folder).unwrap(), "told\n");
    std::fs::remove_file(folder).unwrap();
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_said_to_be_missing() {
    let missing = Transport::Child(Command { program: "/nonexistent/server".into(), ..Command::default() });
    let error = Client::open("gone", missing).await.unwrap_err();
    assert_eq!(error.to_string(), "'gone' can't be started");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.starts_with("/nonexistent/server: "), "{cause}");
}
