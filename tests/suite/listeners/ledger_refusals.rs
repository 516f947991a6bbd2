use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use callgate_core::permissions::Permissions;
use callgate_core::report::Dispatch;
use callgate_core::testing::{self, Scripted, caller};
use callgate_core::tool::ToolFailure;
use callgate_core::verdict::Denial;
use callgate_core::{CallRequest, Dispatcher, ListenerFailure, Outcome, Verdict};
use callgate_tests::host::{self, Component, kept};
use callgate_tests::tools::{Counting, counting, json, numbered, text};
use serde_json::json;

use super::{answered, denied, executed, memory};

type Word = Result<Verdict, ListenerFailure>;

fn order() -> CallRequest {
    host::call(&caller("ada", &[]), "pay", r#"{"amount":5}"#, &json!({ "festi/idempotencyKey": "17" }).to_string())
}

/// The ledger, with another listener before or behind it that says this until it is told to let calls pass.
async fn beside(word: Word, before: bool) -> (Dispatcher, Arc<Counting>, Arc<AtomicBool>) {
    let refusing = Arc::new(AtomicBool::new(true));
    let refuses = refusing.clone();
    let other = Scripted::default().on_before_call(move |_| match refuses.load(Ordering::SeqCst) {
        true => word.clone(),
        false => Ok(Verdict::Proceed),
    });
    let mut listeners = vec![Component::named("idempotency-ledger").over(&memory()).await];
    listeners.insert(usize::from(!before), testing::subscription("other", Arc::new(other)));
    let (tool, counter) = numbered(testing::row("pay"));
    (host::dispatcher(vec![tool], Permissions::default(), listeners), counter, refusing)
}

fn words() -> [Word; 3] {
    [
        Ok(Verdict::Deny(Denial::new("not approved").unwrap())),
        Err(ListenerFailure::Returned("no database".into())),
        Ok(Verdict::Answer(json(r#"{"content":[{"type":"text","text":"another listener's"}]}"#))),
    ]
}

#[tokio::test]
async fn b3_what_another_listener_said_is_never_stored_and_a_retry_runs() {
    for word in words() {
        for before in [true, false] {
            let (dispatcher, counter, refusing) = beside(word.clone(), before).await;
            for _ in 0..2 {
                let refused = dispatcher.call(order()).await;
                assert!(!matches!(refused, Outcome::Executed(_)), "{word:?}");
            }
            assert_eq!(counter.runs(), 0);
            refusing.store(false, Ordering::SeqCst);
            let first = dispatcher.call(order()).await;
            assert!(executed(&first).as_str().contains("run 1"));
            assert_eq!(answered(&dispatcher.call(order()).await), executed(&first));
            assert_eq!(counter.runs(), 1);
        }
    }
}

#[tokio::test]
async fn b3_a_denial_outweighs_a_stored_answer_and_leaves_it_where_it_is() {
    let (dispatcher, _, refusing) = beside(Ok(Verdict::Deny(Denial::new("not now").unwrap())), false).await;
    refusing.store(false, Ordering::SeqCst);
    let first = dispatcher.call(order()).await;
    refusing.store(true, Ordering::SeqCst);
    assert_eq!(denied(&dispatcher.call(order()).await), "not now");
    refusing.store(false, Ordering::SeqCst);
    assert_eq!(answered(&dispatcher.call(order()).await), executed(&first));
}

#[tokio::test]
async fn b7_a_failure_that_the_caller_was_told_can_be_tried_again_and_one_that_nobody_saw_can_not() {
    let fails = |failure: ToolFailure| {
        move |run| {
            let failure = failure.clone();
            async move { if run == 1 { Err(failure) } else { text(&format!("run {run}")) } }
        }
    };
    let lost = |dispatch| ToolFailure::Upstream { detail: "gone".into(), dispatch };
    for (failure, repeated) in
        [(ToolFailure::Raised("oops".into()), true), (lost(Dispatch::None), true), (lost(Dispatch::Unknown), false)]
    {
        let state = memory();
        let (tool, counter) = counting(testing::row("pay"), fails(failure));
        let ledger = Component::named("idempotency-ledger").over(&state).await;
        let dispatcher = host::dispatcher(vec![tool], Permissions::default(), vec![ledger]);
        assert!(matches!(dispatcher.call(order()).await, Outcome::Refused(_)));
        let repeat = dispatcher.call(order()).await;
        if repeated {
            executed(&repeat);
        } else {
            assert!(denied(&repeat).starts_with("An earlier call with this key may have run"));
        }
        assert_eq!(counter.runs(), 1 + u64::from(repeated));
    }
}

#[tokio::test]
async fn b7_a_claim_of_a_host_that_is_gone_is_unknown_and_not_run_again() {
    let state = memory();
    let host = || async {
        let (tool, counter) = numbered(testing::row("pay"));
        let ledger = Component::named("idempotency-ledger").over(&state).await;
        (host::dispatcher(vec![tool], Permissions::default(), vec![ledger]), counter)
    };
    let (first, _) = host().await;
    let ran = first.call(order()).await;
    // What a host that ended in mid-call leaves behind is the claim as it stood: this is that, put back.
    let [(key, mut record)] = kept(&state, "idempotency-ledger", "key/").await.try_into().unwrap();
    record["state"] = "running".into();
    record["call"] = "of another time".into();
    record["host-run"] = "another".into();
    state.set("idempotency-ledger", &key, &record.to_string(), None).await.unwrap();

    let (second, counter) = host().await;
    assert!(denied(&second.call(order()).await).starts_with("An earlier call with this key may have run"));
    assert_eq!(counter.runs(), 0);
    assert!(executed(&ran).as_str().contains("run 1"));
}
