//! Tasks are taken out of the negotiation (W5).

use serde_json::json;

use crate::rig::{Rig, Setup};

#[tokio::test]
async fn w5_neither_side_learns_that_the_other_could_run_tasks() {
    let mut rig = Setup::default().begin();
    rig.client
        .say(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}, "tasks":{"list":{}}},"clientInfo":{}}}"#)
        .await;
    assert_eq!(
        rig.up().hear().await,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{}}}"#
    );
    rig.up()
        .say(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"requests":{}}, "tools":{}}}}"#)
        .await;
    assert_eq!(
        rig.client.hear().await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}}"#
    );
    rig.end().await;
}

#[tokio::test]
async fn w5_a_call_runs_as_a_call_and_not_as_a_task() {
    let mut rig = Rig::with_tools(Setup::default(), &["read"]).await;
    rig.client
        .say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","task":{"ttl":60000},"arguments":{}}}"#)
        .await;
    assert_eq!(
        rig.up().hear().await,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","arguments":{}}}"#
    );
    rig.end().await;
}

#[tokio::test]
async fn w5_a_listing_does_not_say_what_could_run_as_a_task() {
    let mut rig = Setup::default().begin();
    rig.client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    rig.up().list(&[r#"{"name":"read","execution":{"taskSupport":"required"},"x":1.0}"#]).await;
    assert_eq!(
        rig.client.hear().await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read","execution":{},"x":1.0}]}}"#
    );
    rig.end().await;
}

#[tokio::test]
async fn w5_a_modern_request_declares_no_tasks_and_so_do_the_gateways_own() {
    let mut rig = Setup::default().begin();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}, "x/y": {}}},
    });
    for method in ["resources/list", "tools/list", "tools/call"] {
        let request =
            json!({"jsonrpc": "2.0", "id": method, "method": method, "params": {"name": "read", "_meta": meta}});
        rig.client.say_json(request).await;
        let heard = match method {
            "tools/list" => rig.up().list(&[r#"{"name":"read"}"#]).await,
            _ => rig.up().hear_json().await,
        };
        let declared = &heard["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(declared, &json!({"extensions": {"x/y": {}}}), "{heard}");
    }
    rig.end().await;
}

#[tokio::test]
async fn w5_nobody_hears_of_a_task() {
    let mut rig = Setup::default().begin();
    rig.up().say(r#"{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t"}}"#).await;
    rig.client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tasks/list"}"#).await;
    assert_eq!(rig.client.hear_json().await["error"]["code"], -32601);
    rig.settle().await;
    rig.end().await;
}
