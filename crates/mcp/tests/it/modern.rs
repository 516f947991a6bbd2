//! The modern era: requests stand alone, results have a type, listings say how they may be kept.

use std::sync::Arc;

use callgate_core::ListenerFailure;
use callgate_core::json::Json;
use callgate_core::testing::Scripted;
use callgate_core::verdict::{Denial, Verdict};
use serde_json::{Value, json};

use crate::rig::{Setup, names};

fn request(id: u64, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": id,
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

const PAGE: &str =
    r#"{"resultType":"complete","tools":[{"name":"read"},{"name":"hidden"}],"ttlMs":300000,"cacheScope":"public"}"#;

#[tokio::test]
async fn g11_a_listing_is_private_and_short_lived() {
    let mut rig = Setup::default().begin();
    for (page, ttl) in [(PAGE.to_owned(), 5000), (PAGE.replace("300000", "20"), 20), (PAGE.replace("300000", "-1"), 0)]
    {
        rig.client.say(request(1, "tools/list", json!({}))).await;
        let asked = rig.up().list_with(&page).await;
        let meta = &asked["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        assert!(meta.get("progressToken").is_none(), "the token belongs to the client's own request");
        let listing = rig.client.hear_json().await;
        assert_eq!(names(&listing), ["read"]);
        assert_eq!(
            (&listing["result"]["ttlMs"], &listing["result"]["cacheScope"], &listing["result"]["resultType"]),
            (&ttl.into(), &"private".into(), &"complete".into())
        );
    }
    rig.end().await;
}

#[tokio::test]
async fn g11_a_degraded_listing_may_not_be_kept() {
    let failing = Arc::new(Scripted::default().on_grant(|_| Err(ListenerFailure::Returned("broken".into()))));
    let mut rig = Setup::listener(&failing).begin();
    rig.client.say(request(1, "tools/list", json!({}))).await;
    rig.up().list_with(PAGE).await;
    let listing = rig.client.hear_json().await;
    assert_eq!((&listing["result"]["ttlMs"], &listing["result"]["cacheScope"]), (&0.into(), &"private".into()));
    rig.end().await;
}

#[tokio::test]
async fn g7_with_nobody_signed_in_a_listing_has_all_that_its_era_asks_for() {
    let mut rig = Setup { signed_in: false, ..Setup::default() }.begin();
    rig.client.say(request(1, "tools/list", json!({}))).await;
    assert_eq!(
        rig.client.hear_json().await["result"],
        json!({"tools": [], "ttlMs": 0, "cacheScope": "private", "resultType": "complete"})
    );
    rig.end().await;
}

#[tokio::test]
async fn w1_what_governance_says_has_a_type_in_this_era() {
    let listener = Scripted::default().on_before_call(|call| match call.identifier() {
        "denied" => Ok(Verdict::Deny(Denial::new("no").unwrap())),
        "failed" => Err(ListenerFailure::Returned("broken".into())),
        _ => Ok(Verdict::Answer(Json::parse(r#"{"content":[],"resultType":"task"}"#).unwrap())),
    });
    let mut rig = Setup::listener(&Arc::new(listener)).begin();
    let tools = ["denied", "failed", "answered"];
    for (id, tool) in tools.into_iter().enumerate() {
        rig.client.say(request(id as u64, "tools/call", json!({ "name": tool }))).await;
        if id == 0 {
            let listed: Vec<_> = tools.iter().map(|name| json!({ "name": name }).to_string()).collect();
            let asked = rig.up().list(&listed.iter().map(String::as_str).collect::<Vec<_>>()).await;
            assert_eq!(asked["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
        }
        assert_eq!(rig.client.hear_json().await["result"]["resultType"], "complete", "{tool}");
    }
    rig.end().await;
}

#[tokio::test]
async fn w2_the_probe_and_executed_calls_pass_as_they_are() {
    let mut rig = Setup::default().begin();
    let probe = request(1, "server/discover", json!({}));
    rig.client.say(&probe).await;
    assert_eq!(rig.up().hear().await, probe);
    let offer = r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":1.0,"cacheScope":"public"}}"#;
    rig.up().say(offer).await;
    assert_eq!(rig.client.hear().await, offer);

    let call = request(2, "tools/call", json!({ "name": "read", "arguments": {} }));
    rig.client.say(&call).await;
    rig.up().list_with(PAGE).await;
    assert_eq!(rig.up().hear().await, call);
    let reply = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"structuredContent":7,"resultType":"complete"}}"#;
    rig.up().say(reply).await;
    assert_eq!(rig.client.hear().await, reply);
    rig.end().await;
}

#[tokio::test]
async fn a_server_of_the_other_era_answers_the_probe_in_its_own_words() {
    let mut rig = Setup::default().begin();
    let probe = request(1, "server/discover", json!({}));
    rig.client.say(&probe).await;
    assert_eq!(rig.up().hear().await, probe);
    let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}"#;
    rig.up().say(error).await;
    assert_eq!(rig.client.hear().await, error);
    rig.end().await;
}
