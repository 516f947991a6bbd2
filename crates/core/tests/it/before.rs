//! B: before the call, refusing wins.

use std::sync::Arc;

use callgate_core::dispatcher::error_result;
use callgate_core::failure::InvalidDecision;
use callgate_core::listener::Hooks;
use callgate_core::report::{Dispatch, Ending, FailureKind, Said};
use callgate_core::request::{CallRequest, Round};
use callgate_core::testing::{self, Scripted, subscription};
use callgate_core::tool::ReplyBody;
use callgate_core::{Json, ListenerFailure, Outcome, Refusal, Verdict};

use crate::support::{Host, Waiting, ada, answer, answer_json, denial, failure, saying};

#[tokio::test]
async fn b1_listeners_are_asked_in_order_about_the_same_call() {
    let listeners: [Arc<Scripted>; 3] = std::array::from_fn(|_| saying(Ok(Verdict::Proceed)));
    let host = Host::new(listeners.clone());
    host.dispatcher.call(testing::request(ada(), "write", r#"{"b": 1.0}"#)).await;
    host.call().await;

    let seen: Vec<_> = listeners.iter().map(|listener| listener.before()[0].clone()).collect();
    assert!(seen.iter().all(|call| Arc::ptr_eq(call, &seen[0])));
    assert_eq!((seen[0].identifier.as_str(), seen[0].arguments.as_str()), ("write", r#"{"b": 1.0}"#));
    assert_eq!(seen[0].caller, ada().unwrap());
    assert_eq!(seen[0].row.as_ref().unwrap().identifier, "write");
    assert_eq!(seen[0].attributes[0].key, "callgate/host-run");
    let ids: std::collections::HashSet<_> =
        listeners.iter().flat_map(|it| it.before()).map(|call| call.id.clone()).collect();
    assert_eq!(ids.len(), 2, "each call has an id of its own");
    assert!(ids.iter().all(|id| id.len() == 32));
    let report = &listeners[0].reports()[0];
    let asked: Vec<_> = report.steps.iter().map(|step| (step.listener.as_str(), step.said)).collect();
    assert_eq!(asked, [("first", Said::Proceed), ("second", Said::Proceed), ("third", Said::Proceed)]);
}

/// What became of a call over which the listeners said this, one after the other.
async fn ended(verdicts: Vec<Result<Verdict, ListenerFailure>>) -> (Outcome, Ending) {
    let listeners: Vec<_> = verdicts.into_iter().map(saying).collect();
    let host = Host::new(listeners.clone());
    let outcome = host.call().await;
    for listener in &listeners {
        assert_eq!(listener.before().len(), 1, "all listeners are asked, whatever an earlier one said");
        assert_eq!(listener.reports().len(), 1);
    }
    let ran = matches!(outcome, Outcome::Executed(_));
    assert_eq!(host.tool.calls(), u64::from(ran));
    let dispatch = if ran { Dispatch::Done } else { Dispatch::None };
    assert_eq!(listeners[0].reports()[0].dispatch, dispatch);
    (outcome, listeners[0].reports()[0].ending.clone())
}

#[tokio::test]
async fn b2_b3_b5_b6_a_failure_outranks_a_denial_and_a_denial_an_answer() {
    let proceed = || Ok(Verdict::Proceed);
    let deny = |reason: &str| Ok(denial(reason));
    let store = |text: &str| Ok(answer(text));

    let (outcome, ending) = ended(vec![proceed(), proceed()]).await;
    assert!(matches!(outcome, Outcome::Executed(_)) && matches!(ending, Ending::Executed(_)));

    for verdicts in [vec![store("a"), proceed(), store("b")], vec![proceed(), store("a"), store("b")]] {
        let (outcome, ending) = ended(verdicts.clone()).await;
        assert_eq!(outcome, Outcome::Answered(answer_json("a")), "the first answer in order wins, unchanged");
        let listener = if verdicts[0] == proceed() { "second" } else { "first" };
        assert_eq!(ending, Ending::Answered { listener: listener.into() });
    }

    for (verdicts, who) in [
        (vec![deny("x"), store("a"), deny("y")], "first"),
        (vec![store("a"), deny("x"), deny("y")], "second"),
        (vec![proceed(), store("a"), deny("x")], "third"),
    ] {
        let (outcome, ending) = ended(verdicts).await;
        assert_eq!(outcome, Outcome::Denied(error_result("x")), "the first denial gives the reason");
        assert_eq!(ending, Ending::Denied { listener: who.into() });
    }

    for (verdicts, who) in [
        (vec![Err(failure()), deny("x"), store("a")], "first"),
        (vec![deny("x"), store("a"), Err(failure())], "third"),
        (vec![store("a"), Err(failure()), Err(failure())], "second"),
    ] {
        let (outcome, ending) = ended(verdicts).await;
        assert_eq!(outcome, Outcome::Refused(Refusal::Internal));
        let Ending::Failed(failed) = ending else { panic!("{ending:?}") };
        assert_eq!((failed.kind, failed.listener.as_deref()), (FailureKind::Listener, Some(who)));
    }
}

#[tokio::test]
async fn b3_the_refusal_is_a_result_with_the_reason_as_text() {
    let (outcome, _) = ended(vec![Ok(denial("Ask \"Bob\" first."))]).await;
    let Outcome::Denied(result) = outcome else { panic!("{outcome:?}") };
    assert_eq!(result.as_str(), r#"{"content":[{"type":"text","text":"Ask \"Bob\" first."}],"isError":true}"#);
}

#[tokio::test]
async fn b5_an_answer_that_is_not_allowed_is_a_failure_of_its_listener() {
    let no_result = Verdict::Answer(Json::parse(r#"{"content":"text"}"#).unwrap());
    let (outcome, ending) = ended(vec![Ok(denial("x")), Ok(no_result)]).await;
    assert_eq!(outcome, Outcome::Refused(Refusal::Internal));
    let Ending::Failed(failed) = ending else { panic!("{ending:?}") };
    let detail = ListenerFailure::InvalidDecision(InvalidDecision::NotAToolResult("content is no array".into()));
    assert_eq!((failed.listener.as_deref(), failed.detail), (Some("second"), detail.to_string()));
}

#[tokio::test]
async fn w2_what_the_front_gave_along_comes_to_the_tool_untouched() {
    let seen: Arc<std::sync::Mutex<Vec<_>>> = Arc::default();
    let seen_by_hook = seen.clone();
    let listener = Arc::new(Scripted::default().on_before_call(move |call| {
        seen_by_hook.lock().unwrap().push((call.wire().cloned(), call.params().clone()));
        Ok(Verdict::Proceed)
    }));
    let request = CallRequest { wire: Some(Json::string("7")), ..testing::request(ada(), "write", r#"{"a": 1.0}"#) };
    Host::new([listener]).dispatcher.call(request.clone()).await;
    assert_eq!(*seen.lock().unwrap(), [(request.wire, request.params)]);
}

#[tokio::test]
async fn w4_every_round_is_decided_anew_and_a_continuation_is_never_answered() {
    for (verdict, runs) in [(Verdict::Proceed, 1), (answer("stored"), 0)] {
        let listener = saying(Ok(verdict));
        let host = Host::new([listener.clone()]);
        let request = CallRequest { round: Round::Continuation, ..testing::request(ada(), "write", "{}") };
        let outcome = host.dispatcher.call(request).await;
        assert_eq!(listener.before()[0].round, Round::Continuation);
        assert_eq!(host.tool.calls(), runs);
        assert_eq!(outcome == Outcome::Refused(Refusal::Internal), runs == 0);
    }
}

#[tokio::test]
async fn b7_a_tool_that_runs_runs_once_and_its_reply_passes_unchanged() {
    let host = Host::new([saying(Ok(Verdict::Proceed))]);
    let outcome = host.call().await;
    let Outcome::Executed(reply) = outcome else { panic!("{outcome:?}") };
    assert_eq!((reply.body, host.tool.calls()), (ReplyBody::Result(testing::empty_result()), 1));
}

#[tokio::test]
async fn w6_a_call_that_is_cancelled_while_listeners_decide_is_not_run() {
    let hooks = Hooks { before_call: true, ..Hooks::default() };
    let (waiting, next) = (Waiting::new(hooks), saying(Ok(Verdict::Proceed)));
    let listeners = vec![subscription("waiting", waiting.clone()), subscription("next", next.clone())];
    let host = Host::subscribed(listeners);
    let call = host.dispatcher.call(testing::request(ada(), "write", "{}"));
    waiting.asked.notified().await;
    call.canceller().cancel();
    waiting.go_on.notify_one();

    assert_eq!(call.await, Outcome::Departed);
    assert_eq!((host.tool.calls(), next.before().len()), (0, 0));
    let reports = next.reports();
    let Ending::Failed(failed) = &reports[0].ending else { panic!("{reports:?}") };
    assert_eq!((failed.kind, reports[0].dispatch, reports.len()), (FailureKind::Cancelled, Dispatch::None, 1));
}
