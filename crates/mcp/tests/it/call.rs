//! Calls as listeners decide them, and how each one ends (B, A, E, W4).

use std::sync::Arc;

use callgate_core::json::Json;
use callgate_core::report::{CallFailure, Completion, Dispatch, Ending, FailureKind};
use callgate_core::testing::Scripted;
use callgate_core::verdict::Denial;
use callgate_core::{ListenerFailure, Verdict};

use crate::rig::{Rig, Setup, call, until};

/// A listener that says that before each call, and keeps the reports.
fn saying(verdict: impl Fn() -> Result<Verdict, ListenerFailure> + Send + Sync + 'static) -> Arc<Scripted> {
    Arc::new(Scripted::default().on_before_call(move |_| verdict()).on_after_call(|_| Ok(())))
}

#[tokio::test]
async fn b3_w1_a_denied_call_is_a_tool_result_with_the_reason_and_reaches_nobody() {
    let listener = saying(|| Ok(Verdict::Deny(Denial::new("not on a Sunday").unwrap())));
    let mut rig = Rig::with_tools(Setup::listener(&listener), &["read"]).await;
    rig.client.say(call("1", "read")).await;
    let answer = rig.client.hear_json().await;
    assert_eq!(answer["result"]["content"], serde_json::json!([{"type": "text", "text": "not on a Sunday"}]));
    assert_eq!(answer["result"]["isError"], true);
    assert!(answer["result"].get("resultType").is_none());
    rig.settle().await;
    assert_eq!(listener.reports()[0].ending, Ending::Denied { listener: "listener".into() });
    rig.end().await;
}

#[tokio::test]
async fn b5_an_answer_reaches_the_caller_as_the_listener_gave_it_and_nobody_else_runs() {
    let answer = r#"{"content":[], "structuredContent":{"n":1.0},"_meta":{"k":1e2},"future":9007199254740993}"#;
    let listener = saying(move || Ok(Verdict::Answer(Json::parse(answer).unwrap())));
    let mut rig = Rig::with_tools(Setup::listener(&listener), &["read"]).await;
    rig.client.say(call("1", "read")).await;
    assert_eq!(rig.client.hear().await, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{answer}}}"#));
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn b6_a_listener_that_fails_fails_the_call() {
    let listener = saying(|| Err(ListenerFailure::Returned("secret".into())));
    let mut rig = Rig::with_tools(Setup::listener(&listener), &["read"]).await;
    rig.client.say(call("1", "read")).await;
    let answer = rig.client.hear().await;
    assert!(answer.contains("Error: An internal error occurred while executing the tool."), "{answer}");
    assert!(!answer.contains("secret"));
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn calls_do_not_wait_for_each_other() {
    let mut rig = Rig::with_tools(Setup::default(), &["slow", "fast"]).await;
    rig.client.say(call("1", "slow")).await;
    assert_eq!(rig.up().hear().await, call("1", "slow"));
    rig.client.say(call("2", "fast")).await;
    assert_eq!(rig.up().hear().await, call("2", "fast"));
    for id in ["2", "1"] {
        let reply = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#);
        rig.up().say(&reply).await;
        assert_eq!(rig.client.hear().await, reply);
    }
    rig.end().await;
}

#[tokio::test]
async fn b7_a_call_that_an_upstream_may_have_run_is_not_tried_again() {
    let listener = saying(|| Ok(Verdict::Proceed));
    let mut rig = Rig::with_tools(Setup::listener(&listener), &["read"]).await;
    rig.client.say(call("1", "read")).await;
    assert_eq!(rig.up().hear().await, call("1", "read"));
    rig.upstreams.clear();
    let answer = rig.client.hear().await;
    assert!(answer.contains("Error: An internal error occurred while executing the tool."), "{answer}");
    // The next one is not even sent, and everybody is told the difference.
    rig.client.say(call("2", "read")).await;
    rig.client.hear().await;
    let ends: Vec<_> = listener.reports().iter().map(|report| report.dispatch).collect();
    assert_eq!(ends, [Dispatch::Unknown, Dispatch::None]);
    rig.end().await;
}

#[tokio::test]
async fn w4_every_round_is_a_call_of_its_own_and_asking_for_input_is_no_completed_result() {
    let listener = saying(|| Ok(Verdict::Proceed));
    let mut rig = Rig::with_tools(Setup::listener(&listener), &["read"]).await;
    rig.client.say(call("1", "read")).await;
    rig.up().hear().await;
    let asking =
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{},"requestState":"s"}}"#;
    rig.up().say(asking).await;
    assert_eq!(rig.client.hear().await, asking);
    let retry = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read","requestState":"s"}}"#;
    rig.client.say(retry).await;
    assert_eq!(rig.up().hear().await, retry);
    rig.up().say(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#).await;
    rig.client.hear().await;
    let endings: Vec<_> = listener.reports().into_iter().map(|report| (report.ending, report.call.round)).collect();
    use callgate_core::request::Round;
    assert_eq!(
        endings,
        [
            (Ending::Executed(Completion::InputRequired), Round::First),
            (Ending::Executed(Completion::Complete), Round::Continuation)
        ]
    );
    rig.end().await;
}

#[tokio::test]
async fn a1_calls_under_way_at_the_end_of_the_session_are_disconnected_and_recorded() {
    let listener = saying(|| Ok(Verdict::Proceed));
    let mut rig = Rig::with_tools(Setup::listener(&listener), &["slow"]).await;
    rig.client.say(call("1", "slow")).await;
    rig.up().hear().await;
    rig.client.close().await;
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(rig.up().hear().await, cancelled);
    assert_eq!(rig.up().hear_or_end().await, None);
    rig.end().await;
    let failed = |report: &callgate_core::CallReport| match &report.ending {
        Ending::Failed(CallFailure { kind, .. }) => Some(*kind),
        _ => None,
    };
    until(|| !listener.reports().is_empty()).await;
    assert_eq!(listener.reports().iter().map(failed).collect::<Vec<_>>(), [Some(FailureKind::Disconnected)]);
}

#[tokio::test]
async fn i3_progress_passes_while_its_call_is_under_way_and_not_after() {
    let mut rig = Rig::with_tools(Setup::default(), &["read"]).await;
    let progress = |token: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}"#
        )
    };
    rig.client
        .say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read","_meta":{"progressToken":"t"}}}"#)
        .await;
    rig.up().hear().await;
    rig.up().say(progress("\"never asked for\"")).await;
    rig.up().say(progress("\"t\"")).await;
    assert_eq!(rig.client.hear().await, progress("\"t\""));
    let reply = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
    rig.up().say(reply).await;
    rig.up().say(progress("\"t\"")).await;
    assert_eq!(rig.client.hear().await, reply);
    rig.settle().await;
    rig.end().await;
}
