//! What governance does not change passes byte for byte (W2).

use crate::rig::{Rig, Setup};

#[tokio::test]
async fn w2_messages_pass_byte_for_byte_in_both_directions() {
    let mut rig = Setup::default().begin();
    for (request, reply) in [
        (
            r#"{"id":1,"jsonrpc":"2.0", "method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{ "x":1.0 },"clientInfo":{"name":"c","version":"1","future":1e2}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18", "capabilities":{"tools":{"x":[]}},"future":0.10}}"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":"\u0061","method":"resources\/read","params":{"uri":"x:y","n":9007199254740993},"extra":null}"#,
            r#"{"jsonrpc":"2.0","id":"a","result":{"contents":[],"n":1.50,"k":1,"k":2} }"#,
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"vendor/anything","params":[1,2]}"#,
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no","data":{"x":1e3}}}"#,
        ),
    ] {
        rig.client.say(request).await;
        assert_eq!(rig.up().hear().await, request);
        rig.up().say(reply).await;
        assert_eq!(rig.client.hear().await, reply);
    }
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed", "x":1.0}"#;
    rig.client.say(progress).await;
    assert_eq!(rig.up().hear().await, progress);
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1.0}}"#;
    rig.up().say(log).await;
    assert_eq!(rig.client.hear().await, log);
    rig.end().await;
}

#[tokio::test]
async fn w2_a_call_and_its_reply_pass_byte_for_byte() {
    let mut rig = Rig::with_tools(Setup::default(), &["read"]).await;
    let request = r#"{"jsonrpc":"2.0", "id":7,"method":"tools/call","params":{"_meta":{"k":[[[[[1]]]]]},"arguments":{"n":1.0, "big":9007199254740993},"name":"r\u0065ad","future":{}},"x":1e2}"#;
    rig.client.say(request).await;
    assert_eq!(rig.up().hear().await, request);
    let reply = r#"{ "jsonrpc":"2.0","id":7,"result":{"content":[],"structuredContent":{"n":1.0},"isError":true,"future":1E2},"x":null}"#;
    rig.up().say(reply).await;
    assert_eq!(rig.client.hear().await, reply);

    let request = r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"read"}}"#;
    rig.client.say(request).await;
    assert_eq!(rig.up().hear().await, request);
    let reply = r#"{"jsonrpc":"2.0","id":8,"error":{"code":-32099,"message":"mine","data":1.0}}"#;
    rig.up().say(reply).await;
    assert_eq!(rig.client.hear().await, reply, "E4: an upstream's own error passes");
    rig.end().await;
}

#[tokio::test]
async fn an_upstreams_requests_pass_and_their_answers_go_back_once() {
    let mut rig = Setup::default().begin();
    let sampling = r#"{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{"maxTokens":1.0}}"#;
    rig.up().say(sampling).await;
    assert_eq!(rig.client.hear().await, sampling);
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"role":"assistant", "x":1e1}}"#;
    rig.client.say(answer).await;
    assert_eq!(rig.up().hear().await, answer);
    // The second one answers nothing any more, nor does one that answers nothing at all.
    rig.client.say(answer).await;
    rig.client.say(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#).await;
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn an_upstream_that_takes_its_request_back_expects_no_answer() {
    let mut rig = Setup::default().begin();
    let ask = r#"{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{}}"#;
    rig.up().say(ask).await;
    assert_eq!(rig.client.hear().await, ask);
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"e"}}"#;
    rig.up().say(cancelled).await;
    assert_eq!(rig.client.hear().await, cancelled);
    rig.client.say(r#"{"jsonrpc":"2.0","id":"e","result":{}}"#).await;
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn a_server_that_is_gone_is_said_to_be() {
    let mut rig = Setup::default().begin();
    let asked = r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#;
    rig.client.say(asked).await;
    assert_eq!(rig.up().hear().await, asked);
    rig.upstreams.clear();
    let reply = rig.client.hear_json().await;
    assert_eq!((&reply["id"], &reply["error"]["code"]), (&1.into(), &(-32603).into()));
    rig.client.say(r#"{"jsonrpc":"2.0","id":2,"method":"resources/list"}"#).await;
    assert_eq!(rig.client.hear_json().await["error"]["code"], -32603);
    rig.end().await;
}
