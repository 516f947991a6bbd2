//! Listings show what exists for the caller, and nothing of theirs is lost (G1, G6, G7, W2).

use std::sync::Arc;

use callgate_core::ListenerFailure;
use callgate_core::grant::{GrantAnswer, Narrowing};
use callgate_core::testing::Scripted;
use serde_json::json;

use crate::rig::{Rig, Setup, call, definition, names};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

#[tokio::test]
async fn w2_a_listing_that_nothing_is_taken_from_differs_in_nothing_but_its_id() {
    let mut rig = Setup::default().begin();
    rig.client.say(LIST).await;
    let result = r#"{ "tools":[ {"name":"b","annotations":{"futureKey":1.0},"_meta":{"x":1e2}} , {"name":"a"} ],"_meta":{"y":[]},"future":1.50}"#;
    rig.up().list_with(result).await;
    assert_eq!(rig.client.hear().await, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    rig.end().await;
}

#[tokio::test]
async fn g2_what_is_withheld_is_taken_out_and_the_rest_keeps_order_and_bytes() {
    let mut rig = Setup::default().begin();
    rig.client.say(LIST).await;
    rig.up().list_with(r#"{"x":1.0,"tools":[{"name":"b", "z":1e0},{"name":"hidden"},{ "name":"a" }]}"#).await;
    assert_eq!(
        rig.client.hear().await,
        r#"{"jsonrpc":"2.0","id":1,"result":{"x":1.0,"tools":[{"name":"b", "z":1e0},{ "name":"a" }]}}"#
    );
    rig.client.say(call("2", "hidden")).await;
    assert_eq!(
        rig.client.hear().await,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Error: Unknown tool 'hidden'."}}"#
    );
    rig.client.say(call("2", "absent")).await;
    assert_eq!(
        rig.client.hear().await,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Error: Unknown tool 'absent'."}}"#
    );
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn every_page_is_followed_also_behind_an_empty_one() {
    let mut rig = Setup::default().begin();
    rig.client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":1.0}}"#).await;
    let page = |names: &[&str], next: Option<&str>| {
        let tools: Vec<_> = names.iter().map(|name| json!({ "name": name })).collect();
        let mut result = json!({ "tools": tools });
        if let Some(next) = next {
            result["nextCursor"] = next.into();
        }
        result.to_string()
    };
    assert_eq!(rig.up().list_with(&page(&["a"], Some(""))).await["params"], json!({"x": 1.0}));
    assert_eq!(rig.up().list_with(&page(&[], Some("2"))).await["params"], json!({"x": 1.0, "cursor": ""}));
    assert_eq!(rig.up().list_with(&page(&["hidden", "c"], None)).await["params"]["cursor"], "2");
    let listing = rig.client.hear_json().await;
    assert_eq!(names(&listing), ["a", "c"]);
    assert!(listing["result"].get("nextCursor").is_none());
    rig.client.say(call("2", "c")).await;
    assert_eq!(rig.up().hear().await, call("2", "c"));
    rig.end().await;
}

#[tokio::test]
async fn a_listing_that_goes_round_in_a_circle_is_no_listing() {
    let mut rig = Setup::default().begin();
    rig.client.say(LIST).await;
    for _ in 0..2 {
        rig.up().list_with(r#"{"tools":[{"name":"a"}],"nextCursor":"1"}"#).await;
    }
    let answer = rig.client.hear_json().await;
    assert_eq!(answer["error"]["message"], "upstream 'up' gave the same cursor twice");
    // What could not be listed can't be decided either.
    rig.client.say(call("2", "a")).await;
    for _ in 0..2 {
        rig.up().list_with(r#"{"tools":[{"name":"a"}],"nextCursor":"1"}"#).await;
    }
    let answer = rig.client.hear_json().await;
    assert_eq!(answer["result"]["content"][0]["text"], "Error: Tool access could not be verified.");
    assert_eq!(answer["result"]["isError"], true);
    rig.end().await;
}

#[tokio::test]
async fn a_cursor_that_was_never_given_is_refused() {
    let mut rig = Setup::default().begin();
    rig.client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}}"#).await;
    assert_eq!(rig.client.hear_json().await["error"]["code"], -32602);
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn e4_an_upstreams_error_on_the_listing_passes_under_the_clients_id() {
    let mut rig = Setup::default().begin();
    for (code, then) in
        [(-32601, r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Error: Unknown tool 'a'."}}"#), (-1, "")]
    {
        rig.client.say(LIST).await;
        let asked = rig.up().hear_json().await;
        rig.up()
            .say(format!(
                r#"{{"id":{}, "error":{{"code":{code},"message":"no","x":1.0}},"jsonrpc":"2.0"}}"#,
                asked["id"]
            ))
            .await;
        assert_eq!(
            rig.client.hear().await,
            format!(r#"{{"id":1, "error":{{"code":{code},"message":"no","x":1.0}},"jsonrpc":"2.0"}}"#)
        );
        if !then.is_empty() {
            rig.client.say(call("2", "a")).await;
            assert_eq!(rig.client.hear().await, then, "a server that can't list tools has none");
        }
    }
    rig.end().await;
}

#[tokio::test]
async fn g7_with_nobody_signed_in_listings_are_empty_and_no_tool_exists() {
    let listener = Arc::new(Scripted::default().on_grant(|_| Ok(GrantAnswer::Abstain)).on_after_call(|_| Ok(())));
    let mut rig = Setup { signed_in: false, ..Setup::listener(&listener) }.begin();
    rig.client.say(LIST).await;
    assert_eq!(rig.client.hear().await, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#);
    rig.client.say(call("2", "read")).await;
    assert_eq!(
        rig.client.hear().await,
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"Error: Unknown tool 'read'."}}"#
    );
    rig.settle().await;
    assert_eq!((listener.asked(), listener.reports().len()), (0, 0));
    rig.end().await;
}

#[tokio::test]
async fn a_listing_from_which_all_is_taken_is_empty_and_not_null() {
    let nothing = Arc::new(Scripted::default().on_grant(|_| Ok(GrantAnswer::Narrow(Narrowing::to_nothing()))));
    let mut rig = Setup::listener(&nothing).begin();
    rig.client.say(LIST).await;
    rig.up().list(&[&definition("a")]).await;
    assert_eq!(rig.client.hear().await, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#);
    rig.client.say(LIST).await;
    rig.up().list_with("{}").await;
    assert_eq!(rig.client.hear().await, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#);
    rig.end().await;
}

#[tokio::test]
async fn g5_g6_a_failing_gate_refuses_the_call_and_leaves_the_listing_to_the_roles() {
    let failing = Arc::new(Scripted::default().on_grant(|_| Err(ListenerFailure::Returned("broken".into()))));
    let mut rig = Rig::with_tools(Setup::listener(&failing), &["read", "hidden"]).await;
    rig.client.say(LIST).await;
    rig.up().list(&[&definition("read"), &definition("hidden")]).await;
    assert_eq!(names(&rig.client.hear_json().await), ["read"]);
    rig.client.say(call("2", "read")).await;
    let answer = rig.client.hear_json().await;
    assert_eq!(answer["result"]["content"][0]["text"], "Error: Tool access could not be verified.");
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn g10_an_unchanged_listing_leaves_the_registry_in_force() {
    let mut rig = Rig::with_tools(Setup::default(), &["read"]).await;
    let generation = rig.dispatcher.rules().current().generation();
    for (tools, same) in [(vec![definition("read")], true), (vec![definition("read"), definition("new")], false)] {
        rig.client.say(LIST).await;
        rig.up().list(&tools.iter().map(String::as_str).collect::<Vec<_>>()).await;
        rig.client.hear().await;
        assert_eq!(rig.dispatcher.rules().current().generation() == generation, same);
    }
    rig.end().await;
}

#[tokio::test]
async fn a_definition_that_can_be_read_in_two_ways_is_left_out() {
    let mut rig = Setup::default().begin();
    rig.client.say(LIST).await;
    rig.up().list(&[r#"{"name":"a","name":"hidden"}"#, "1", r#"{"name":7}"#, r#"{"name":""}"#, &definition("b")]).await;
    assert_eq!(names(&rig.client.hear_json().await), ["b"]);
    rig.end().await;
}

#[tokio::test]
async fn n1_a_name_that_a_listener_would_see_cut_is_no_tools_name() {
    let mut rig = Setup::default().begin();
    let (longest, longer) = ("x".repeat(1_024), "x".repeat(1_025));
    rig.client.say(LIST).await;
    rig.up().list(&[&definition(&longest), &definition(&longer)]).await;
    assert_eq!(names(&rig.client.hear_json().await), [longest.as_str()]);
    rig.client.say(call("2", &longer)).await;
    assert!(rig.client.hear().await.contains("Error: Unknown tool"));
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn g4_a_page_that_can_be_read_in_two_ways_shows_nothing_that_is_withheld() {
    let mut rig = Setup::default().begin();
    for page in [
        r#""result":{"tools":[{"name":"hidden"}],"tools":[{"name":"a"}]}"#,
        r#""result":{"tools":[{"name":"a"}],"Tools":[{"name":"hidden"}]}"#,
        r#""result":{"tool\u017f":[{"name":"hidden"}],"tools":[{"name":"a"}]}"#,
        r#""Result":{"tools":[{"name":"hidden"}]},"result":{"tools":[{"name":"a"}]}"#,
    ] {
        rig.client.say(LIST).await;
        let asked = rig.up().hear_json().await;
        rig.up().say(format!(r#"{{"jsonrpc":"2.0","id":{},{page}}}"#, asked["id"])).await;
        assert_eq!(rig.client.hear().await, r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}"#, "{page}");
    }
    rig.end().await;
}
