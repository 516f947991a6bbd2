//! When the gateway looks at the tools again.

use std::sync::Arc;

use callgate_core::grant::{GrantAnswer, Narrowing};
use callgate_core::testing::Scripted;

use crate::rig::{Rig, Setup, call, definition, names};

#[tokio::test]
async fn w7_a_changed_list_is_looked_at_before_the_client_hears_of_it() {
    let mut rig = Rig::with_tools(Setup::default(), &["old"]).await;
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","x":1.0}"#;
    rig.up().say(changed).await;
    rig.up().list(&[&definition("new")]).await;
    assert_eq!(rig.client.hear().await, changed);
    rig.client.say(call("1", "new")).await;
    assert_eq!(rig.up().hear().await, call("1", "new"));
    rig.client.say(call("2", "old")).await;
    assert!(rig.client.hear().await.contains("Error: Unknown tool 'old'."));
    rig.end().await;
}

#[tokio::test]
async fn a_call_waits_for_the_first_listing() {
    let mut rig = Setup::default().begin();
    rig.client.say(call("1", "read")).await;
    rig.up().list(&[&definition("read")]).await;
    assert_eq!(rig.up().hear().await, call("1", "read"));
    rig.end().await;
}

#[tokio::test]
async fn a_call_waits_for_a_listing_under_way() {
    let mut rig = Rig::with_tools(Setup::default(), &["old"]).await;
    rig.client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    let asked = rig.up().hear_json().await;
    rig.client.say(call("2", "new")).await;
    rig.settle().await;
    let result = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[{}]}}}}"#, asked["id"], definition("new"));
    rig.up().say(result).await;
    assert_eq!(rig.up().hear().await, call("2", "new"));
    assert_eq!(names(&rig.client.hear_json().await), ["new"]);
    rig.end().await;
}

#[tokio::test]
async fn what_is_known_stays_known_where_a_later_look_fails() {
    let mut rig = Rig::with_tools(Setup::default(), &["read"]).await;
    rig.client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    rig.up().list_with("{\"tools\":7}").await;
    assert_eq!(rig.client.hear_json().await["error"]["code"], -32603);
    rig.client.say(call("2", "read")).await;
    assert_eq!(rig.up().hear().await, call("2", "read"));
    rig.end().await;
}

#[tokio::test]
async fn w7_many_changes_at_once_are_one_look_and_told_as_often_as_the_view_changed() {
    let mut rig = Rig::with_tools(Setup::default(), &["old"]).await;
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    rig.up().say(changed).await;
    let asked = rig.up().hear_json().await;
    for _ in 0..50 {
        rig.up().say(changed).await;
    }
    rig.settle().await;
    // Those that came while the first look was under way may concern what it did not see any more: one more look.
    let result = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[]}}}}"#, asked["id"]);
    rig.up().say(result).await;
    rig.up().list(&[&definition("new")]).await;
    // From the old tool to none, and from none to the new one.
    for _ in 0..2 {
        assert_eq!(rig.client.hear().await, changed);
    }
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn w7_a_change_that_the_caller_can_not_see_is_not_announced() {
    let old_only = Narrowing::to_nothing().and_named(["old"]);
    let gate = Arc::new(Scripted::default().on_grant(move |_| Ok(GrantAnswer::Narrow(old_only.clone()))));
    let mut rig = Rig::with_tools(Setup::listener(&gate), &["old"]).await;
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    for (listed, announced) in [(vec!["old"], false), (vec!["old", "hidden"], false), (vec!["hidden"], true)] {
        rig.up().say(changed).await;
        let definitions: Vec<_> = listed.into_iter().map(definition).collect();
        rig.up().list(&definitions.iter().map(String::as_str).collect::<Vec<_>>()).await;
        if announced {
            assert_eq!(rig.client.hear().await, changed);
        }
        rig.settle().await;
    }
    rig.end().await;
}

#[tokio::test]
async fn n1_a_call_without_a_name_is_refused_as_such_also_where_there_is_no_listing() {
    let mut rig = Setup::default().begin();
    for params in ["{}", "[]", r#"{"name":null}"#, r#"{"name":""}"#, r#"{"name":1.5}"#] {
        rig.client.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)).await;
        let answer = rig.client.hear_json().await;
        assert_eq!(answer["error"]["message"], "Error: Tool name is required.", "{params}: {answer}");
    }
    // An integer is a name, and has to wait for what it names.
    rig.client.say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#).await;
    rig.up().list_with("{\"tools\":7}").await;
    assert_eq!(rig.client.hear_json().await["result"]["isError"], true);
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn g5_calls_that_wait_for_one_look_share_its_failure() {
    let mut rig = Setup::default().begin();
    rig.client.say(call("1", "read")).await;
    let asked = rig.up().hear_json().await;
    for id in ["2", "3"] {
        rig.client.say(call(id, "read")).await;
    }
    rig.settle().await;
    rig.up().say(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":7}}}}"#, asked["id"])).await;
    let first = rig.client.hear_json().await;
    for _ in 0..2 {
        let answer = rig.client.hear_json().await;
        assert_eq!((&answer["error"], &answer["result"]), (&first["error"], &first["result"]));
    }
    // Whoever comes later has it looked at anew.
    rig.settle().await;
    rig.client.say(call("4", "read")).await;
    rig.up().list(&[&definition("read")]).await;
    assert_eq!(rig.up().hear().await, call("4", "read"));
    rig.end().await;
}
