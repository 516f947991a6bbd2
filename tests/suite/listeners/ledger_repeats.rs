use std::sync::Arc;

use callgate_core::permissions::Permissions;
use callgate_core::registry::Tool;
use callgate_core::request::{CallRequest, Round};
use callgate_core::testing::{self, caller};
use callgate_core::{Dispatcher, Outcome, StateStore};
use callgate_tests::host::{self, Component};
use callgate_tests::tools::{counting, input_required, numbered, result, text};
use serde_json::json;
use tokio::sync::watch;

use super::{answered, denied, executed, memory, sqlite};

const RUNNING: &str = "A call with this key is already running. Retry once it finished to get its result.";

async fn ledger(tool: Tool, state: &Arc<dyn StateStore>) -> Dispatcher {
    let listeners = vec![Component::named("idempotency-ledger").over(state).await];
    host::dispatcher(vec![tool], Permissions::default(), listeners)
}

fn order(subject: &str, key: &str, arguments: &str) -> CallRequest {
    host::call(&caller(subject, &[]), "pay", arguments, &json!({ "festi/idempotencyKey": key }).to_string())
}

/// Fifty calls at once, while the tool runs for as long as the test wants.
#[tokio::test(flavor = "multi_thread")]
async fn b7_of_fifty_calls_at_once_one_runs_and_the_others_are_refused_while_it_does() {
    let (file, _folder) = sqlite();
    for state in [memory(), file] {
        let (release, wait) = watch::channel(false);
        let (tool, counter) = counting(testing::row("pay"), move |run| {
            let mut wait = wait.clone();
            async move {
                wait.wait_for(|released| *released).await.unwrap();
                text(&format!("run {run}"))
            }
        });
        let dispatcher = ledger(tool, &state).await;
        let (ends, mut ended) = tokio::sync::mpsc::unbounded_channel();
        for _ in 0..50 {
            let (call, ends) = (dispatcher.call(order("ada", "17", r#"{"amount":5}"#)), ends.clone());
            tokio::spawn(async move { ends.send(call.await).unwrap() });
        }
        for _ in 0..49 {
            assert_eq!(denied(&ended.recv().await.unwrap()), RUNNING);
        }
        release.send(true).unwrap();
        let first = ended.recv().await.unwrap();
        assert_eq!(counter.runs(), 1);

        let repeat = dispatcher.call(order("ada", "17", r#"{ "amount": 5 }"#)).await;
        assert_eq!(answered(&repeat).as_str(), executed(&first).as_str());
        assert_eq!(counter.runs(), 1);
    }
}

/// The same while the tool replies at once, so that calls meet every state of the claim.
#[tokio::test(flavor = "multi_thread")]
async fn b7_fifty_calls_at_once_get_the_stored_answer_or_the_refusal() {
    let (file, _folder) = sqlite();
    for state in [memory(), file] {
        let (tool, counter) = numbered(testing::row("pay"));
        let dispatcher = ledger(tool, &state).await;
        let calls: Vec<_> = (0..50).map(|_| dispatcher.call(order("ada", "17", "{}"))).collect();
        let mut outcomes = Vec::new();
        for call in calls {
            outcomes.push(call.await);
        }
        let (ran, others): (Vec<_>, Vec<_>) =
            outcomes.into_iter().partition(|outcome| matches!(outcome, Outcome::Executed(_)));
        assert_eq!((ran.len(), counter.runs()), (1, 1));
        for other in others {
            match &other {
                Outcome::Answered(stored) => assert_eq!(stored, executed(&ran[0])),
                refused => assert_eq!(denied(refused), RUNNING),
            }
        }
        assert_eq!(answered(&dispatcher.call(order("ada", "17", "{}")).await), executed(&ran[0]));
    }
}

#[tokio::test]
async fn f5_two_callers_with_one_key_do_not_meet() {
    let (tool, counter) = numbered(testing::row("pay"));
    let dispatcher = ledger(tool, &memory()).await;
    let adas = dispatcher.call(order("ada", "17", "{}")).await;
    let bobs = dispatcher.call(order("bob", "17", "{}")).await;
    assert_ne!(executed(&adas), executed(&bobs));
    assert_eq!(counter.runs(), 2);
    assert_eq!(answered(&dispatcher.call(order("bob", "17", "{}")).await), executed(&bobs));
}

#[tokio::test]
async fn b2_other_arguments_under_the_same_key_are_refused() {
    let (tool, counter) = numbered(testing::row("pay"));
    let dispatcher = ledger(tool, &memory()).await;
    let first = dispatcher.call(order("ada", "17", r#"{"amount":5}"#)).await;
    let other = dispatcher.call(order("ada", "17", r#"{"amount":6}"#)).await;
    assert_eq!(denied(&other), "This `festi/idempotencyKey` was used with other arguments. Use a new key.");
    assert_eq!(counter.runs(), 1);
    // The refusal has not taken the place of the answer.
    assert_eq!(answered(&dispatcher.call(order("ada", "17", r#"{"amount":5}"#)).await), executed(&first));
}

#[tokio::test]
async fn b7_a_call_without_a_usable_key_is_not_mistaken_for_one_that_is_protected() {
    let (tool, counter) = numbered(testing::row("pay"));
    let dispatcher = ledger(tool, &memory()).await;
    let ada = caller("ada", &[]);
    for _ in 0..2 {
        executed(&dispatcher.call(host::call(&ada, "pay", "{}", "{}")).await);
    }
    let crowded: serde_json::Map<_, _> = (0..33).map(|number| (format!("m{number:02}"), json!(1))).collect();
    for meta in [json!({ "festi/idempotencyKey": "" }), json!({ "festi/idempotencyKey": 17 }), crowded.into()] {
        denied(&dispatcher.call(host::call(&ada, "pay", "{}", &meta.to_string())).await);
    }
    assert_eq!(counter.runs(), 2);
}

#[tokio::test]
async fn w4_only_the_last_round_is_stored_and_a_continuation_is_never_answered() {
    let (tool, counter) = counting(testing::row("pay"), |run| async move {
        if run == 1 { input_required() } else { text(&format!("run {run}")) }
    });
    let dispatcher = ledger(tool, &memory()).await;
    let continuation = || CallRequest { round: Round::Continuation, ..order("ada", "17", "{}") };

    executed(&dispatcher.call(order("ada", "17", "{}")).await);
    let last = dispatcher.call(continuation()).await;
    assert!(executed(&last).as_str().contains("run 2"));
    denied(&dispatcher.call(continuation()).await);
    assert_eq!(answered(&dispatcher.call(order("ada", "17", "{}")).await), executed(&last));
    assert_eq!(counter.runs(), 2);
}

#[tokio::test]
async fn b5_an_error_is_stored_like_any_result_unless_the_configuration_says_otherwise() {
    for (stores, runs) in [(true, 1), (false, 2)] {
        let state = memory();
        let (tool, counter) = counting(testing::row("pay"), |_| async { result(r#"{"content":[], "isError": true}"#) });
        let component = Component::named("idempotency-ledger").configured("store-errors", json!(stores));
        let dispatcher = host::dispatcher(vec![tool], Permissions::default(), vec![component.over(&state).await]);
        let first = dispatcher.call(order("ada", "17", "{}")).await;
        let repeat = dispatcher.call(order("ada", "17", "{}")).await;
        let repeat = if stores { answered(&repeat) } else { executed(&repeat) };
        assert_eq!(repeat, executed(&first));
        assert_eq!(counter.runs(), runs);
    }
}
