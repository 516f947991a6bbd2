//! Whatever a call is dressed as, it is governed or refused, and never forwarded unjudged (N5, W3).

use callgate_core::testing::Scripted;

use crate::rig::{Rig, Setup, call};

/// Lines that hide a call to `hidden` from somebody, and what they are answered with: an error code, or nothing.
const CORPUS: &[(&str, Option<i64>)] = &[
    (r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hidden"}}]"#, Some(-32600)),
    (r#"[]"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","name":"hidden"}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","\u006eame":"hidden"}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","Name":"hidden"}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","argumentſ":{}}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","requeststate":"s"}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","InputReſponses":{}}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"hidden"}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"hidden"}}"#, Some(-32600)),
    (
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{"a":1,"a":2}}}"#,
        Some(-32600),
    ),
    (r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"read"}}"#, None),
    (r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"read"}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1.0,"method":"tools/call","params":{"name":"read"}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":[1],"method":"tools/call","params":{"name":"read"}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":"callgate:1","method":"tools/call","params":{"name":"read"}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","result":{},"params":{"name":"read"}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#, Some(-32602)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}"#, Some(-32602)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["hidden"]}"#, Some(-32602)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["hidden"]}}"#, Some(-32602)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"hidden"}}"#, Some(-32602)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"name":"hidden"}}"#, Some(-32602)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"\u0074ools/call","params":{"name":"\u0068idden"}}"#, Some(-32602)),
    (r#"{"id":1,"method":"tools/call","params":{"name":"read"}}"#, Some(-32600)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\ud800"}}"#, Some(-32600)),
    ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"read\"}}", Some(-32700)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read"}"#, Some(-32700)),
    (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/result","params":{"taskId":"t"}}"#, Some(-32601)),
    (r#"{"jsonrpc":"2.0","method":"tasks/cancel","params":{"taskId":"t"}}"#, None),
    (r#"{"jsonrpc":"2.0","id":98,"result":{"method":"tools/call","params":{"name":"read"}}}"#, None),
    (r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"callgate:1"}}"#, None),
];

#[tokio::test]
async fn w3_n5_no_call_in_disguise_reaches_the_upstream() {
    let mut rig = Rig::with_tools(Setup::default(), &["read", "hidden"]).await;
    for (line, code) in CORPUS {
        rig.client.say(line).await;
        if let Some(code) = code {
            let answer = rig.client.hear_json().await;
            assert_eq!(answer["error"]["code"], *code, "{line}\n{answer}");
        }
        // The next thing that the upstream hears is this, or the line got through.
        rig.settle().await;
    }
    rig.end().await;
}

#[tokio::test]
async fn w3_a_line_nested_too_deeply_is_refused_under_its_id() {
    let mut rig = Rig::with_tools(Setup::default(), &["read"]).await;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"read","arguments":{{"a":{deep}}}}}}}"#
    );
    rig.client.say(line).await;
    let answer = rig.client.hear_json().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&5.into(), &(-32600).into()));
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn w3_a_line_that_is_too_long_is_answered_and_the_next_one_is_read() {
    let mut rig = Rig::with_tools(Setup::default(), &["read"]).await;
    let long = "x".repeat(4 * 1024 * 1024);
    let line = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{{"name":"read","a":"{long}"}}}}"#);
    rig.client.say(line).await;
    let answer = rig.client.hear_json().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&5.into(), &(-32600).into()));
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn w3_a_message_between_carriage_returns_is_not_set_free() {
    let mut rig = Setup::default().begin();
    let smuggled = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hidden"}}"#;
    rig.client.say(format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x/y\",\"params\":\r{smuggled}\r}}")).await;
    let heard = rig.up().hear().await;
    assert_eq!(heard, format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x/y","params": {smuggled} }}"#));
    rig.end().await;
}

#[tokio::test]
async fn w3_an_id_that_is_under_way_is_refused_and_its_first_request_is_not_disturbed() {
    let mut rig = Rig::with_tools(Setup::default(), &["read"]).await;
    rig.client.say(call("1", "read")).await;
    assert_eq!(rig.up().hear().await, call("1", "read"));
    rig.client.say(call("1", "read")).await;
    let refused = rig.client.hear_json().await;
    assert_eq!((&refused["id"], &refused["error"]["code"]), (&serde_json::Value::Null, &(-32600).into()));
    rig.settle().await;
    let reply = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    rig.up().say(reply).await;
    assert_eq!(rig.client.hear().await, reply);
    // Once it is answered the id is free again.
    rig.client.say(call("1", "read")).await;
    assert_eq!(rig.up().hear().await, call("1", "read"));
    rig.end().await;
}

#[tokio::test]
async fn n1_n2_w2_what_is_read_as_something_else_is_forwarded_as_it_was_judged() {
    let listener = std::sync::Arc::new(Scripted::default().on_before_call(|_| Ok(callgate_core::Verdict::Proceed)));
    let mut rig = Rig::with_tools(Setup::listener(&listener), &["7"]).await;
    rig.client
        .say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7, "arguments":[1],"_meta":5},"x":1.0}"#)
        .await;
    assert_eq!(
        rig.up().hear().await,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"7", "arguments":{},"_meta":5},"x":1.0}"#
    );
    let judged = &listener.before()[0];
    assert_eq!((judged.identifier.as_str(), judged.arguments.as_str()), ("7", "{}"));
    rig.end().await;
}
