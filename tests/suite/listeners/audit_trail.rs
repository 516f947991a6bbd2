use std::future::pending;
use std::sync::{Arc, OnceLock};

use callgate_core::permissions::Permissions;
use callgate_core::registry::Tool;
use callgate_core::testing::{self, Scripted, caller};
use callgate_core::tool::ToolFailure;
use callgate_core::verdict::Denial;
use callgate_core::{
    Dispatcher, Json, ListenerFailure, Outcome, Rules, StateStore, Subscription, ToolRegistry, Verdict,
};
use callgate_tests::host::{self, Component, kept};
use callgate_tests::tools::{counting, json, numbered, result};
use serde_json::Value;
use tokio::sync::Notify;

use super::memory;

/// A dispatcher over `pay` and that listener, with an audit trail behind it.
async fn audited(tool: Tool, other: Scripted) -> (Dispatcher, Arc<dyn StateStore>) {
    let state = memory();
    let listeners =
        vec![testing::subscription("other", Arc::new(other)), Component::named("audit-trail").over(&state).await];
    (host::dispatcher(vec![tool], Permissions::default(), listeners), state)
}

async fn pay(dispatcher: &Dispatcher, name: &str) -> Outcome {
    dispatcher.call(host::call(&caller("ada", &["writer"]), name, r#"{"amount":5}"#, "{}")).await
}

/// The one record that there is.
async fn record(state: &Arc<dyn StateStore>) -> Value {
    let records = kept(state, "audit-trail", "record/").await;
    let [(key, record)] = &records[..] else { panic!("{records:?}") };
    assert_eq!(key, "record/0000000001");
    assert_eq!((&record["subject"], &record["tool"]), (&"ada".into(), &"pay".into()));
    record.clone()
}

/// Ending, by whom, kind of failure, dispatch, and what the result says of itself.
fn facts(record: &Value) -> [String; 5] {
    ["ending", "by", "failure", "dispatch", "is-error"].map(|key| record[key].to_string().replace('"', ""))
}

#[tokio::test]
async fn a1_a2_what_ran_was_denied_or_was_answered_is_recorded_once() {
    let says = |verdict: Verdict| Scripted::default().on_before_call(move |_| Ok(verdict.clone()));
    let error = counting(testing::row("pay"), |_| async { result(r#"{"content":[],"isError":true}"#) }).0;
    let fine = || numbered(testing::row("pay")).0;
    let denial = Denial::new("no").unwrap().with_private_reason(Some("rule 7".into()));
    let cases = [
        (fine(), says(Verdict::Proceed), ["executed", "null", "null", "done", "false"]),
        (error, says(Verdict::Proceed), ["executed", "null", "null", "done", "true"]),
        (fine(), says(Verdict::Deny(denial)), ["denied", "other", "null", "none", "true"]),
        (fine(), says(Verdict::Answer(json(r#"{"content":[]}"#))), ["answered", "other", "null", "none", "false"]),
    ];
    for (tool, other, expected) in cases {
        let (dispatcher, state) = audited(tool, other).await;
        pay(&dispatcher, "pay").await;
        let record = record(&state).await;
        assert_eq!(facts(&record), expected);
        let reason = if expected[0] == "denied" { "rule 7".into() } else { Value::Null };
        assert_eq!(record["steps"][0]["private-reason"], reason);
    }
}

#[tokio::test]
async fn a1_a2_what_failed_is_recorded_once() {
    let fails = |_: &_| Err(ListenerFailure::Returned("no database".into()));
    let lost = |dispatch| move |_| async move { Err(ToolFailure::Upstream { detail: "gone".into(), dispatch }) };
    let fine = || numbered(testing::row("pay")).0;
    let raises = counting(testing::row("pay"), |_| async { Err(ToolFailure::Raised("oops".into())) }).0;
    let unknown = counting(testing::row("pay"), lost(callgate_core::report::Dispatch::Unknown)).0;
    let cases = [
        (fine(), Scripted::default().on_before_call(fails), ["failed", "other", "listener", "none", "null"]),
        (
            fine(),
            Scripted::default().on_grant(|_| Err(ListenerFailure::Overload)),
            ["failed", "other", "gate", "none", "null"],
        ),
        (raises, Scripted::default(), ["failed", "null", "tool", "done", "null"]),
        (unknown, Scripted::default(), ["failed", "null", "upstream", "unknown", "null"]),
    ];
    for (tool, other, expected) in cases {
        let (dispatcher, state) = audited(tool, other).await;
        assert!(matches!(pay(&dispatcher, "pay").await, Outcome::Refused(_)));
        assert_eq!(facts(&record(&state).await), expected);
    }
}

#[tokio::test]
async fn g8_a2_a_call_whose_tool_is_withdrawn_meanwhile_is_recorded_once() {
    let rules: Arc<OnceLock<Arc<Rules>>> = Arc::default();
    let meanwhile = rules.clone();
    let withdraws = Scripted::default().on_before_call(move |_| {
        meanwhile.get().unwrap().replace_registry(ToolRegistry::default());
        Ok(Verdict::Proceed)
    });
    let (tool, counter) = numbered(testing::row("pay"));
    let (dispatcher, state) = audited(tool, withdraws).await;
    rules.set(dispatcher.rules().clone()).unwrap();
    assert!(matches!(pay(&dispatcher, "pay").await, Outcome::Refused(_)));
    assert_eq!(facts(&record(&state).await), ["withdrawn", "null", "null", "none", "null"]);
    assert_eq!(counter.runs(), 0);
}

#[tokio::test]
async fn a1_a2_a_caller_who_leaves_is_recorded_once() {
    for cancels in [true, false] {
        let running = Arc::new(Notify::new());
        let started = running.clone();
        let (tool, counter) = counting(testing::row("pay"), move |_| {
            started.notify_one();
            pending()
        });
        let (dispatcher, state) = audited(tool, Scripted::default()).await;
        let call = dispatcher.call(host::call(&caller("ada", &["writer"]), "pay", "{}", "{}"));
        running.notified().await;
        if cancels {
            call.canceller().cancel();
            assert_eq!(call.await, Outcome::Departed);
        } else {
            drop(call);
        }
        dispatcher.drain(host::AMPLE).await;
        let kind = if cancels { "cancelled" } else { "disconnected" };
        assert_eq!(facts(&record(&state).await), ["failed", "null", kind, "unknown", "null"]);
        assert_eq!(counter.runs(), 1);
    }
}

#[tokio::test]
async fn a1_what_never_reached_a_listener_leaves_no_record() {
    let state = memory();
    let trail: Subscription = Component::named("audit-trail").over(&state).await;
    let (tool, _) = numbered(testing::row("pay"));
    let dispatcher = host::dispatcher(vec![tool], Permissions::default(), vec![trail]);
    pay(&dispatcher, "no_such_tool").await;
    dispatcher.call(testing::request(None, "pay", "{}")).await;
    let nameless = callgate_core::CallRequest {
        params: Json::empty_object(),
        ..testing::request(Some(caller("ada", &[])), "pay", "{}")
    };
    dispatcher.call(nameless).await;
    assert_eq!(kept(&state, "audit-trail", "").await, []);
}
