//! Tools of the host project itself, through the same path.

use callgate_core::NativeTool;
use callgate_core::binding::{ArgumentType, Parameter};
use callgate_core::registry::Tool;
use serde_json::json;

use crate::rig::{Rig, Setup, definition, names};

fn add() -> Tool {
    let parameters = [Parameter::new("a", ArgumentType::Int), Parameter::new("b", ArgumentType::Int)];
    NativeTool::new("add", parameters, |arguments| async move {
        Ok(json!(arguments.get::<i64>("a")? + arguments.get::<i64>("b")?))
    })
    .required("a", ArgumentType::Int)
    .required("b", ArgumentType::Int)
    .into()
}

async fn asked(rig: &mut Rig, id: u64, method: &str, params: serde_json::Value) -> serde_json::Value {
    rig.client.say_json(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
    rig.client.hear_json().await
}

#[tokio::test]
async fn native_tools_are_served_with_no_upstream_at_all_in_the_handshake_era() {
    let mut rig = Setup { upstreams: Vec::new(), native: vec![add()], ..Setup::default() }.begin();
    let greeting = asked(&mut rig, 1, "initialize", json!({"protocolVersion": "2025-06-18"})).await;
    assert_eq!(
        greeting["result"],
        json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "gate", "version": "1"}})
    );
    rig.client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    let listing = asked(&mut rig, 2, "tools/list", json!({})).await;
    assert_eq!(names(&listing), ["add"]);
    let sum = asked(&mut rig, 3, "tools/call", json!({"name": "add", "arguments": {"a": 2, "b": 3}})).await;
    assert_eq!(sum["result"], json!({"content": [{"type": "text", "text": "5"}]}));
    assert_eq!(asked(&mut rig, 4, "ping", json!({})).await["result"], json!({}));
    rig.end().await;
}

#[tokio::test]
async fn native_tools_are_served_in_the_modern_era() {
    let mut rig = Setup { upstreams: Vec::new(), native: vec![add()], ..Setup::default() }.begin();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let offer = asked(&mut rig, 1, "server/discover", json!({"_meta": meta})).await;
    assert_eq!(offer["result"]["supportedVersions"], json!(["2026-07-28"]));
    let listing = asked(&mut rig, 2, "tools/list", json!({"_meta": meta})).await;
    let result = &listing["result"];
    assert_eq!((&result["cacheScope"], &result["resultType"]), (&"private".into(), &"complete".into()));
    let params = json!({"name": "add", "arguments": {"a": 2, "b": 3}, "_meta": meta});
    let sum = asked(&mut rig, 3, "tools/call", params).await;
    assert_eq!(sum["result"], json!({"content": [{"type": "text", "text": "5"}], "resultType": "complete"}));
    rig.end().await;
}

#[tokio::test]
async fn e1_w1_arguments_that_do_not_fit_are_said_in_a_tool_result() {
    let mut rig = Setup { upstreams: Vec::new(), native: vec![add()], ..Setup::default() }.begin();
    let answer = asked(&mut rig, 1, "tools/call", json!({"name": "add", "arguments": {"a": 2}})).await;
    assert_eq!(
        answer["result"],
        json!({"content": [{"type": "text", "text": "Error: Missing required argument 'b'."}], "isError": true})
    );
    rig.end().await;
}

#[tokio::test]
async fn native_tools_stand_beside_those_of_an_upstream() {
    let mut rig = Setup { native: vec![add()], ..Setup::default() }.begin();
    for (listed, refused) in [("read", false), ("add", true)] {
        rig.client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
        rig.up().list(&[&definition(listed)]).await;
        let answer = rig.client.hear_json().await;
        if refused {
            let message = "'up' and 'native tools' both offer a tool called 'add'; give one of them a prefix";
            assert_eq!(answer["error"]["message"], message);
        } else {
            assert_eq!(names(&answer), ["read", "add"]);
        }
    }
    rig.end().await;
}
