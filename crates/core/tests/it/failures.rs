//! F: what counts as a listener failure, and whom it touches.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use callgate_core::failure::InvalidDecision;
use callgate_core::listener::{Hooks, NotLoaded};
use callgate_core::report::{Ending, FailureKind};
use callgate_core::testing::{self, Scripted, subscription};
use callgate_core::verdict::Denial;
use callgate_core::{Listener, ListenerFailure, Outcome, Refusal, Verdict};

use crate::support::{Host, Waiting, ada, audit};

/// What a call and a listing come to over that listener, and how the failure is recorded.
async fn with(listener: Arc<dyn Listener>) -> (Outcome, usize, Option<(FailureKind, String)>) {
    let audit = audit();
    let host = Host::subscribed(vec![subscription("bad", listener), subscription("audit", audit.clone())]);
    let outcome = host.call().await;
    let listed = host.listed().await.len();
    assert_eq!(host.tool.calls(), u64::from(matches!(outcome, Outcome::Executed(_))));
    assert_eq!(audit.reports().len(), 1);
    let failed = match audit.reports()[0].ending.clone() {
        Ending::Failed(failed) => Some((failed.kind, failed.detail)),
        _ => None,
    };
    (outcome, listed, failed)
}

fn hooks(name: &str) -> Hooks {
    Hooks { grant: name == "grant", before_call: name == "before-call", after_call: name == "after-call" }
}

#[tokio::test]
async fn f1_f3_a_listener_that_is_not_loaded_fails_whatever_it_is_asked() {
    let not_loaded = |hook| Arc::new(NotLoaded::new(hooks(hook), "gate.wasm: no such file"));
    let detail = "not loaded: gate.wasm: no such file".to_owned();

    let (outcome, listed, failed) = with(not_loaded("grant")).await;
    assert_eq!((outcome, listed), (Outcome::Refused(Refusal::AccessNotVerified), 1));
    assert_eq!(failed, Some((FailureKind::Gate, detail.clone())));

    let (outcome, _, failed) = with(not_loaded("before-call")).await;
    assert_eq!(outcome, Outcome::Refused(Refusal::Internal));
    assert_eq!(failed, Some((FailureKind::Listener, detail)));

    let (outcome, _, failed) = with(not_loaded("after-call")).await;
    assert!(matches!(outcome, Outcome::Executed(_)) && failed.is_none());
}

#[tokio::test]
async fn f1_a_panic_is_contained() {
    let panics = Scripted::default().on_before_call(|_| panic!("index {} out of range", 7));
    let (outcome, _, failed) = with(Arc::new(panics)).await;
    assert_eq!(outcome, Outcome::Refused(Refusal::Internal));
    assert_eq!(failed, Some((FailureKind::Listener, "panicked: index 7 out of range".into())));
}

#[tokio::test(start_paused = true)]
async fn f1_a_deadline_that_passes_is_a_failure() {
    let (outcome, _, failed) = with(Waiting::new(hooks("before-call"))).await;
    assert_eq!(outcome, Outcome::Refused(Refusal::Internal));
    assert_eq!(failed, Some((FailureKind::Listener, "no decision within 10000 ms".into())));
}

#[tokio::test]
async fn f1_b4_an_invalid_decision_is_a_failure() {
    let empty = Scripted::default()
        .on_before_call(|_| Denial::new(" ").map(Verdict::Deny).map_err(ListenerFailure::InvalidDecision));
    let (outcome, _, failed) = with(Arc::new(empty)).await;
    assert_eq!(outcome, Outcome::Refused(Refusal::Internal));
    let detail = ListenerFailure::InvalidDecision(InvalidDecision::EmptyReason).to_string();
    assert_eq!(failed, Some((FailureKind::Listener, detail)));
}

#[tokio::test]
async fn f2_one_failure_touches_neither_the_next_call_nor_another_caller() {
    let calls = AtomicU64::new(0);
    let once = Scripted::default().on_before_call(move |_| {
        assert_ne!(calls.fetch_add(1, Ordering::SeqCst), 0, "the first event breaks it");
        Ok(Verdict::Proceed)
    });
    let host = Host::new([Arc::new(once)]);
    assert_eq!(host.call().await, Outcome::Refused(Refusal::Internal));
    assert!(matches!(host.call().await, Outcome::Executed(_)));
    let bob = Some(testing::caller("bob", &[]));
    assert!(matches!(host.dispatcher.call(testing::request(bob, "write", "{}")).await, Outcome::Executed(_)));
}

#[tokio::test]
async fn f2_a_waiting_listener_holds_up_its_own_call_only() {
    let waiting = Waiting::new(hooks("before-call"));
    let host = Host::subscribed(vec![subscription("waiting", waiting.clone())]);
    let held = host.dispatcher.call(testing::request(ada(), "write", "{}"));
    waiting.asked.notified().await;
    let other = host.dispatcher.call(testing::request(ada(), "absent", "{}"));
    let refused = tokio::time::timeout(Duration::from_secs(5), other).await.unwrap();
    assert_eq!(refused, Outcome::Refused(Refusal::UnknownTool("absent".into())));
    waiting.go_on.notify_one();
    assert!(matches!(held.await, Outcome::Executed(_)));
}

#[test]
fn f1_every_kind_of_failure_has_a_name_of_its_own() {
    let stderr = String::new();
    let failures = [
        ListenerFailure::Trap { detail: String::new(), stderr: stderr.clone() },
        ListenerFailure::Exit { code: 1, stderr: stderr.clone() },
        ListenerFailure::Panic(String::new()),
        ListenerFailure::Deadline(Duration::ZERO),
        ListenerFailure::Limit { limit: "memory", stderr },
        ListenerFailure::Returned(String::new()),
        ListenerFailure::BadReturn(String::new()),
        ListenerFailure::InvalidDecision(InvalidDecision::EmptyReason),
        ListenerFailure::Instantiation(String::new()),
        ListenerFailure::Overload,
        ListenerFailure::NotLoaded(String::new()),
        ListenerFailure::Suspended { failures: 5, last: "trap" },
    ];
    let kinds: std::collections::HashSet<_> = failures.iter().map(ListenerFailure::kind).collect();
    assert_eq!(kinds.len(), failures.len());
    assert!(kinds.contains("memory"));
}
