//! A: after the call, exactly once, however it ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use callgate_core::dispatcher::error_result;
use callgate_core::listener::Hooks;
use callgate_core::registry::Tool;
use callgate_core::report::{Completion, Dispatch, Ending, FailureKind, Said};
use callgate_core::subscription::Delivery;
use callgate_core::testing::{self, Scripted, subscription};
use callgate_core::tool::{ReplyBody, ToolFailure, ToolProvider, ToolReply};
use callgate_core::verdict::Denial;
use callgate_core::{CallReport, GrantedCall, Json, Outcome, Refusal, Subscription, Verdict};
use tokio::sync::Notify;

use crate::support::{Host, Log, Waiting, ada, answer, answer_json, audit, failure, native, saying};

/// A tool that ends as the test wants it to, or never.
#[derive(Debug)]
struct Ends {
    with: Option<Result<ToolReply, ToolFailure>>,
    running: Notify,
    dropped: Arc<AtomicBool>,
}

/// Tells that a run was given up.
struct TellsWhenDropped(Arc<AtomicBool>);

impl Drop for TellsWhenDropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[async_trait]
impl ToolProvider for Ends {
    async fn call(&self, _call: &GrantedCall) -> Result<ToolReply, ToolFailure> {
        let _run = TellsWhenDropped(self.dropped.clone());
        self.running.notify_one();
        match &self.with {
            Some(ending) => ending.clone(),
            None => std::future::pending().await,
        }
    }
}

fn tool(with: Option<Result<ToolReply, ToolFailure>>) -> (Tool, Arc<Ends>) {
    let ends = Arc::new(Ends { with, running: Notify::new(), dropped: Arc::default() });
    (Tool::new(testing::row("write"), Json::empty_object(), ends.clone()), ends)
}

/// The one report of a call to a tool that ends like that, and what the caller got.
async fn reported(with: Result<ToolReply, ToolFailure>) -> (CallReport, Outcome) {
    let audit = audit();
    let dispatcher = testing::dispatcher(vec![tool(Some(with)).0], vec![subscription("audit", audit.clone())]);
    let outcome = dispatcher.call(testing::request(ada(), "write", r#"{"a":1}"#)).await;
    let mut reports = audit.reports();
    assert_eq!((reports.len(), dispatcher.counters().calls), (1, 1));
    (reports.remove(0), outcome)
}

fn failed(report: &CallReport) -> (FailureKind, &str) {
    let Ending::Failed(failed) = &report.ending else { panic!("{report:?}") };
    (failed.kind, &failed.detail)
}

#[tokio::test]
async fn a1_a2_a4_an_executed_call_has_its_result_also_when_that_is_an_error() {
    for result in [testing::empty_result(), error_result("no such file")] {
        let (report, outcome) = reported(Ok(ToolReply::result(result.clone()))).await;
        assert_eq!(report.ending, Ending::Executed(Completion::Complete));
        assert_eq!((report.dispatch, report.reply), (Dispatch::Done, Some(result.clone())));
        assert_eq!(report.call.arguments.as_str(), r#"{"a":1}"#);
        assert_eq!(outcome, Outcome::Executed(ToolReply::result(result)));
    }
}

#[tokio::test]
async fn w4_a_round_that_asks_for_input_is_told_as_one() {
    for completion in [Completion::InputRequired, Completion::Task] {
        let reply = ToolReply { completion, ..ToolReply::result(Json::empty_object()) };
        assert_eq!(reported(Ok(reply)).await.0.ending, Ending::Executed(completion));
    }
}

#[tokio::test]
async fn e4_an_upstreams_own_error_passes_unchanged_and_is_told_as_a_failure() {
    let error = Json::parse(r#"{"code":-32000, "message":"busy"}"#).unwrap();
    let reply = ToolReply { body: ReplyBody::Error(error), ..ToolReply::result(Json::empty_object()) };
    let (report, outcome) = reported(Ok(reply.clone())).await;
    assert_eq!(outcome, Outcome::Executed(reply));
    assert_eq!(failed(&report).0, FailureKind::Upstream);
    assert_eq!((report.dispatch, report.reply), (Dispatch::Done, None));
}

#[tokio::test]
async fn a1_b7_a_lost_upstream_says_whether_the_tool_may_have_run() {
    for dispatch in [Dispatch::None, Dispatch::Unknown] {
        let lost = ToolFailure::Upstream { detail: "connection closed".into(), dispatch };
        let (report, outcome) = reported(Err(lost)).await;
        assert_eq!(outcome, Outcome::Refused(Refusal::Internal));
        assert_eq!(failed(&report), (FailureKind::Upstream, "the upstream was lost: connection closed"));
        assert_eq!((report.dispatch, report.reply), (dispatch, None));
    }
}

#[tokio::test]
async fn a1_a_failure_inside_the_tool_and_of_its_arguments_are_told() {
    let (report, outcome) = reported(Err(ToolFailure::Raised("secret path".into()))).await;
    assert_eq!(outcome, Outcome::Refused(Refusal::Internal));
    assert_eq!(failed(&report), (FailureKind::Tool, "the tool failed: secret path"));
    assert_eq!(report.dispatch, Dispatch::Done);

    let audit = audit();
    let dispatcher = testing::dispatcher(vec![native("write").into()], vec![subscription("audit", audit.clone())]);
    dispatcher.call(testing::request(ada(), "write", "{}")).await;
    assert_eq!(failed(&audit.reports()[0]), (FailureKind::Binding, "Missing required argument 'idReward'."));
    assert_eq!(audit.reports()[0].dispatch, Dispatch::None);
}

#[tokio::test]
async fn a2_a4_a_denied_or_answered_call_has_a_result_and_no_failure() {
    let denial = Denial::new("no").unwrap().with_private_reason(Some("rule 7".into()));
    for (verdict, ending, reply) in [
        (Verdict::Deny(denial), Ending::Denied { listener: "first".into() }, error_result("no")),
        (answer("stored"), Ending::Answered { listener: "first".into() }, answer_json("stored")),
    ] {
        let listener = saying(Ok(verdict));
        Host::new([listener.clone()]).call().await;
        let report = &listener.reports()[0];
        assert_eq!((&report.ending, &report.reply), (&ending, &Some(reply)));
        assert_eq!((report.dispatch, report.duration), (Dispatch::None, Duration::ZERO));
        let private = (report.steps[0].said == Said::Deny).then_some("rule 7");
        assert_eq!(report.steps[0].private_reason.as_deref(), private);
    }
}

#[tokio::test]
async fn a1_a_caller_that_cancels_or_goes_away_leaves_one_event_and_no_running_tool() {
    for cancels in [true, false] {
        let (tool, ends) = tool(None);
        let told = Arc::new(Notify::new());
        let tell = told.clone();
        let audit = Arc::new(Scripted::default().on_after_call(move |_| {
            tell.notify_one();
            Ok(())
        }));
        let dispatcher = testing::dispatcher(vec![tool], vec![subscription("audit", audit.clone())]);
        let call = dispatcher.call(testing::request(ada(), "write", "{}"));
        ends.running.notified().await;
        assert!(!ends.dropped.load(Ordering::SeqCst));
        if cancels {
            call.canceller().cancel();
            assert_eq!(call.await, Outcome::Departed);
        } else {
            drop(call);
        }
        told.notified().await;
        dispatcher.drain(Duration::from_secs(10)).await;

        assert!(ends.dropped.load(Ordering::SeqCst));
        let reports = audit.reports();
        let kind = if cancels { FailureKind::Cancelled } else { FailureKind::Disconnected };
        assert_eq!((reports.len(), failed(&reports[0]).0), (1, kind));
        assert_eq!((reports[0].dispatch, &reports[0].reply), (Dispatch::Unknown, &None));
    }
}

#[tokio::test(start_paused = true)]
async fn a1_a_tool_that_takes_too_long_ends_with_its_deadline() {
    let (tool, ends) = tool(None);
    let audit = audit();
    let dispatcher = testing::dispatcher(vec![tool], vec![subscription("audit", audit.clone())]);
    let outcome = dispatcher.call(testing::request(ada(), "write", "{}")).await;
    assert_eq!(outcome, Outcome::Refused(Refusal::Internal));
    assert_eq!(failed(&audit.reports()[0]), (FailureKind::Deadline, "no reply within 30000 ms"));
    assert_eq!(audit.reports()[0].dispatch, Dispatch::Unknown);
    assert!(ends.dropped.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a2_the_duration_is_the_tools_and_not_the_listeners() {
    let slow = Arc::new(Scripted::default().on_before_call(|_| {
        let begun = std::time::Instant::now();
        while begun.elapsed() < Duration::from_millis(60) {}
        Ok(Verdict::Proceed)
    }));
    let audit = audit();
    let host = Host::new([slow, audit.clone()]);
    host.call().await;
    let report = &audit.reports()[0];
    assert!(report.duration > Duration::ZERO && report.duration < Duration::from_millis(50), "{report:?}");
    assert!(report.steps[0].duration >= Duration::from_millis(60), "{report:?}");
}

#[tokio::test]
async fn a3_a_failing_after_call_listener_is_logged_and_ignored_and_the_others_still_run() {
    let (log, _capturing) = Log::capture();
    let failing = Arc::new(Scripted::default().on_after_call(|_| Err(failure())));
    let panicking = Arc::new(Scripted::default().on_after_call(|_| panic!("lost the file")));
    let audit = audit();
    let host = Host::new([failing, panicking, audit.clone()]);
    assert!(matches!(host.call().await, Outcome::Executed(_)));
    assert_eq!(audit.reports().len(), 1);
    let logged = log.lines("a listener failed");
    assert_eq!(logged.len(), 2, "{logged:?}");
    assert!(logged[0].contains("no database") && logged[1].contains("lost the file"), "{logged:?}");
    let failures: Vec<_> = host.dispatcher.rules().current().listeners.iter().map(|it| it.failures()).collect();
    assert_eq!(failures, [1, 1, 0]);
}

#[tokio::test]
async fn a1_a_caller_that_goes_away_while_listeners_decide_leaves_no_running_tool() {
    let waiting = Waiting::new(Hooks { before_call: true, after_call: true, ..Hooks::default() });
    let host = Host::subscribed(vec![subscription("waiting", waiting.clone())]);
    let call = host.dispatcher.call(testing::request(ada(), "write", "{}"));
    // Whoever else could still cancel the call does not keep its caller there.
    let _canceller = call.canceller();
    waiting.asked.notified().await;
    drop(call);
    waiting.go_on.notify_one();
    waiting.asked.notified().await;
    waiting.go_on.notify_one();
    host.dispatcher.drain(Duration::from_secs(10)).await;
    let told = waiting.told.lock().unwrap();
    assert_eq!((told.len(), failed(&told[0]).0, told[0].dispatch), (1, FailureKind::Disconnected, Dispatch::None));
    assert_eq!(host.tool.calls(), 0);
}

#[tokio::test]
async fn a1_a_host_can_wait_for_the_calls_under_way() {
    let waiting = Waiting::new(Hooks { before_call: true, ..Hooks::default() });
    let host = Host::subscribed(vec![subscription("waiting", waiting.clone())]);
    host.dispatcher.drain(Duration::from_secs(10)).await;
    let calls = [0, 1].map(|_| host.dispatcher.call(testing::request(ada(), "write", "{}")));
    let mut drained = std::pin::pin!(host.dispatcher.drain(Duration::from_secs(100)));
    for call in calls {
        assert!(futures_util::poll!(&mut drained).is_pending());
        waiting.asked.notified().await;
        waiting.go_on.notify_one();
        call.await;
    }
    drained.await;
    assert_eq!(host.tool.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a1_a_host_waits_no_longer_than_it_wants_to() {
    let (tool, _ends) = tool(None);
    let dispatcher = testing::dispatcher(vec![tool], vec![]);
    let call = dispatcher.call(testing::request(ada(), "write", "{}"));
    let begun = tokio::time::Instant::now();
    dispatcher.drain(Duration::from_secs(1)).await;
    assert_eq!(begun.elapsed().as_secs(), 1);
    drop(call);
}

fn after_call() -> Hooks {
    Hooks { after_call: true, ..Hooks::default() }
}

#[tokio::test]
async fn a5_the_answer_waits_for_listeners_before_it_and_not_for_those_behind_it() {
    let waiting = Waiting::new(after_call());
    let host = Host::subscribed(vec![subscription("before", waiting.clone())]);
    let mut call = host.dispatcher.call(testing::request(ada(), "write", "{}"));
    waiting.asked.notified().await;
    assert!(futures_util::poll!(&mut call).is_pending());
    waiting.go_on.notify_one();
    assert!(matches!(call.await, Outcome::Executed(_)));
    assert_eq!(waiting.told.lock().unwrap().len(), 1);

    let waiting = Waiting::new(after_call());
    let host = Host::subscribed(vec![behind(waiting.clone())]);
    assert!(matches!(host.call().await, Outcome::Executed(_)));
    assert_eq!(waiting.told.lock().unwrap().len(), 0);
    waiting.go_on.notify_one();
    host.dispatcher.drain(Duration::from_secs(10)).await;
    assert_eq!(waiting.told.lock().unwrap().len(), 1);
    assert_eq!(host.dispatcher.counters().dropped_events, 0);
}

fn behind(listener: Arc<Waiting>) -> Subscription {
    Subscription::new("behind", listener, Duration::from_secs(10), Delivery::BehindReply)
}

#[tokio::test]
async fn f2_a_slow_listener_behind_the_answer_holds_up_no_other_one() {
    let (stuck, audit) = (Waiting::new(after_call()), Waiting::new(after_call()));
    let named = |name, listener| Subscription::new(name, listener, Duration::from_secs(10), Delivery::BehindReply);
    let host = Host::subscribed(vec![named("stuck", stuck.clone()), named("audit", audit.clone())]);
    host.call().await;
    audit.go_on.notify_one();
    audit.asked.notified().await;
    host.call().await;
    // The second event comes only when the first is over; the stuck listener still has both of its own.
    audit.asked.notified().await;
    assert_eq!((audit.told.lock().unwrap().len(), stuck.told.lock().unwrap().len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn a5_the_queue_behind_the_answer_is_bounded_and_what_is_dropped_is_counted() {
    let waiting = Waiting::new(after_call());
    // The listener never answers, and its deadline is far beyond the drain's.
    let stuck = Subscription::new("behind", waiting.clone(), Duration::from_secs(1_000), Delivery::BehindReply);
    let host = Host::subscribed(vec![stuck]);
    for _ in 0..1_030 {
        assert!(matches!(host.call().await, Outcome::Executed(_)));
    }
    assert_eq!(host.dispatcher.counters().dropped_events, 6, "1,024 have a place");
    host.dispatcher.drain(Duration::from_secs(1)).await;
    assert_eq!(host.dispatcher.counters().dropped_events, 1_030);
    assert_eq!(host.dispatcher.counters().calls, 1_030);
}

#[tokio::test(start_paused = true)]
async fn a5_a_listener_before_the_answer_holds_it_no_longer_than_its_deadline() {
    let stuck = subscription("stuck", Waiting::new(after_call()));
    let host = Host::subscribed(vec![stuck]);
    let begun = tokio::time::Instant::now();
    assert!(matches!(host.call().await, Outcome::Executed(_)));
    assert_eq!(begun.elapsed().as_secs(), 10);
}
