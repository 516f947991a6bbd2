//! Several upstreams as one server.

use serde_json::json;

use crate::rig::{Rig, Setup, call, definition, names};

fn two(prefix: Option<&'static str>) -> Rig {
    Setup { upstreams: vec![("one", None), ("two", prefix)], ..Setup::default() }.begin()
}

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

/// Shakes hands as a client of 2025-11-25; the second upstream speaks 2025-06-18 and has resources too.
async fn initialized(rig: &mut Rig) -> serde_json::Value {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    rig.client.say(request).await;
    for (upstream, version, capabilities) in [
        (0, "2025-11-25", json!({"tools": {}, "prompts": {"x": 1}, "logging": {}})),
        (1, "2025-06-18", json!({"tools": {"listChanged": true}, "resources": {}, "prompts": {}, "logging": {}})),
    ] {
        assert_eq!(rig.upstreams[upstream].hear().await, request);
        let result = json!({"protocolVersion": version, "capabilities": capabilities, "instructions": version});
        rig.upstreams[upstream].say_json(json!({"jsonrpc": "2.0", "id": 1, "result": result})).await;
    }
    rig.client.hear_json().await
}

#[tokio::test]
async fn what_upstreams_offer_is_put_together_under_the_lowest_revision() {
    let mut rig = two(None);
    assert_eq!(
        initialized(&mut rig).await["result"],
        json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": true}, "prompts": {"x": 1}, "logging": {}, "resources": {}},
            "serverInfo": {"name": "gate", "version": "1"},
            "instructions": "2025-11-25\n\n2025-06-18",
        })
    );
    rig.end().await;
}

#[tokio::test]
async fn a_request_goes_to_the_first_upstream_that_offers_what_it_is_about() {
    let mut rig = two(None);
    initialized(&mut rig).await;
    for (method, serving) in [("resources/list", 1), ("prompts/list", 0), ("vendor/thing", 0)] {
        let request = format!(r#"{{"jsonrpc":"2.0","id":"\u0061", "method":"{method}"}}"#);
        rig.client.say(&request).await;
        assert_eq!(rig.upstreams[serving].hear().await, request);
        let reply = r#"{"jsonrpc":"2.0","id":"a","result":{"x":1.0}}"#;
        rig.upstreams[serving].say(reply).await;
        assert_eq!(rig.client.hear().await, reply);
    }
    rig.client.say(r#"{"jsonrpc":"2.0","id":2,"method":"completion/complete"}"#).await;
    assert_eq!(rig.client.hear_json().await["error"]["code"], -32601);
    rig.client.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    assert_eq!(rig.client.hear().await, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);

    let level = r#"{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"info"}}"#;
    rig.client.say(level).await;
    for upstream in &mut rig.upstreams {
        assert_eq!(upstream.hear().await, level);
        upstream.say(r#"{"jsonrpc":"2.0","id":3,"result":{}}"#).await;
    }
    assert_eq!(rig.client.hear_json().await["result"], json!({}));
    rig.end().await;
}

#[tokio::test]
async fn w2_a_qualified_name_is_put_back_and_nothing_else_changes() {
    let mut rig = two(Some("two__"));
    rig.client.say(LIST).await;
    rig.upstreams[0].list(&[&definition("read")]).await;
    rig.upstreams[1].list(&[r#"{ "x":1.0,"name":"read" , "y":[ ]}"#]).await;
    let listing = rig.client.hear().await;
    assert!(listing.contains(r#"{ "x":1.0,"name":"two__read" , "y":[ ]}"#), "{listing}");
    let request = |name: &str| {
        format!(
            r#"{{"jsonrpc":"2.0", "id":2,"method":"tools/call","params":{{"arguments":{{"n":1.0}}, "name":"{name}"}}}}"#
        )
    };
    rig.client.say(request("two__read")).await;
    assert_eq!(rig.upstreams[1].hear().await, request("read"));
    rig.upstreams[1].say(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"from":2}}"#).await;
    assert_eq!(rig.client.hear_json().await["result"]["from"], 2);
    rig.client.say(request("read")).await;
    assert_eq!(rig.upstreams[0].hear().await, request("read"));
    rig.end().await;
}

#[tokio::test]
async fn colliding_names_are_refused_and_neither_upstream_wins() {
    let mut rig = two(None);
    rig.client.say(LIST).await;
    for upstream in &mut rig.upstreams {
        upstream.list(&[&definition("read")]).await;
    }
    let answer = rig.client.hear_json().await;
    assert_eq!(
        answer["error"]["message"],
        "'one' and 'two' both offer a tool called 'read'; give one of them a prefix"
    );
    rig.client.say(call("2", "read")).await;
    for upstream in &mut rig.upstreams {
        upstream.list(&[&definition("read")]).await;
    }
    assert!(rig.client.hear().await.contains("Error: Tool access could not be verified."));
    rig.end().await;
}

#[tokio::test]
async fn i5_an_upstream_that_is_lost_takes_only_its_own_tools_along() {
    let mut rig = two(None);
    rig.client.say(LIST).await;
    rig.upstreams[0].list(&[&definition("a")]).await;
    rig.upstreams[1].list(&[&definition("b")]).await;
    assert_eq!(names(&rig.client.hear_json().await), ["a", "b"]);
    rig.upstreams.pop();
    rig.client.say(LIST).await;
    rig.upstreams[0].list(&[&definition("a")]).await;
    assert_eq!(names(&rig.client.hear_json().await), ["a", "b"], "what it had is still governed as its own");
    rig.client.say(call("2", "b")).await;
    assert!(rig.client.hear().await.contains("Error: An internal error occurred while executing the tool."));
    rig.client.say(call("3", "a")).await;
    assert_eq!(rig.upstreams[0].hear().await, call("3", "a"));
    rig.end().await;
}

#[tokio::test]
async fn requests_of_two_upstreams_with_one_id_find_their_way_back() {
    let mut rig = two(None);
    let asks = r#"{"jsonrpc":"2.0","id":1, "method":"roots/list"}"#;
    let mut ids = Vec::new();
    for upstream in 0..2 {
        rig.upstreams[upstream].say(asks).await;
        let heard = rig.client.hear_json().await;
        assert_eq!(heard["method"], "roots/list");
        ids.push(heard["id"].clone());
    }
    assert_ne!(ids[0], ids[1]);
    for upstream in [1, 0] {
        rig.client
            .say(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"roots":[{upstream}]}} }}"#, ids[upstream]))
            .await;
        assert_eq!(
            rig.upstreams[upstream].hear().await,
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"roots":[{upstream}]}} }}"#)
        );
    }
    rig.end().await;
}

#[tokio::test]
async fn one_upstream_of_the_handshake_era_keeps_all_of_them_in_it() {
    let mut rig = two(None);
    let probe = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    let modern = json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "resultType": "complete", "ttlMs": 9, "cacheScope": "public"});
    for legacy in [true, false] {
        rig.client.say(probe).await;
        assert_eq!(rig.upstreams[0].hear().await, probe);
        rig.upstreams[0].say_json(json!({"jsonrpc": "2.0", "id": 1, "result": modern})).await;
        assert_eq!(rig.upstreams[1].hear().await, probe);
        rig.upstreams[1]
            .say_json(match legacy {
                true => json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "not initialized"}}),
                false => json!({"jsonrpc": "2.0", "id": 1, "result": modern}),
            })
            .await;
        let answer = rig.client.hear_json().await;
        if legacy {
            assert_eq!(answer["error"]["code"], -32601);
        } else {
            let result = &answer["result"];
            assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&9.into(), &"public".into()));
            assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
        }
    }
    rig.end().await;
}

#[tokio::test]
async fn a_client_that_does_not_probe_is_served_all_the_same() {
    let mut rig = two(None);
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1}}}"#;
    rig.client.say(request).await;
    for (upstream, capabilities) in [(0, json!({"tools": {}})), (1, json!({"resources": {}}))] {
        let asked = rig.upstreams[upstream].hear_json().await;
        assert_eq!(asked["method"], "server/discover");
        assert_eq!(asked["params"]["_meta"], json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"}));
        rig.upstreams[upstream]
            .say_json(json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"capabilities": capabilities}}))
            .await;
    }
    assert_eq!(rig.upstreams[1].hear().await, request);
    rig.end().await;
}
