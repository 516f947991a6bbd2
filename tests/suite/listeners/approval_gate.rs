use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use callgate::approvals::{self, ApprovalError};
use callgate::sqlite_state::SqliteState;
use callgate_core::permissions::Permissions;
use callgate_core::testing::{self, Scripted, caller};
use callgate_core::verdict::Denial;
use callgate_core::{Caller, Dispatcher, Outcome, StateStore, Subscription, Verdict};
use callgate_tests::host::{self, Component};
use callgate_tests::tools::{Counting, numbered};

use super::{denied, executed};

/// `pay` behind the gate, and what an operator approves with.
struct Gated {
    dispatcher: Dispatcher,
    pay: Arc<Counting>,
    store: Arc<SqliteState>,
    _folder: tempfile::TempDir,
}

impl Gated {
    async fn with(others: Vec<Subscription>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteState::open(&folder.path().join("state.sqlite")).unwrap());
        let state: Arc<dyn StateStore> = store.clone();
        let (tool, pay) = numbered(testing::row("pay"));
        let mut listeners = vec![Component::named("approval-gate").over(&state).await];
        listeners.extend(others);
        let dispatcher = host::dispatcher(vec![tool], Permissions::default(), listeners);
        Self { dispatcher, pay, store, _folder: folder }
    }

    async fn pay(&self, caller: &Arc<Caller>, arguments: &str) -> Outcome {
        self.dispatcher.call(host::call(caller, "pay", arguments, "{}")).await
    }

    async fn approve(&self, ticket: &str) -> Result<(), ApprovalError> {
        approvals::approve(&self.store, &["approval-gate"], ticket).await.map(drop)
    }
}

/// The ticket that a denial names.
fn ticket(denial: &str) -> String {
    let (_, after) = denial.split_once("`callgate approve ").unwrap();
    after.split('`').next().unwrap().to_owned()
}

#[tokio::test]
async fn b2_an_approval_is_for_one_run_of_exactly_one_call() {
    let gated = Gated::with(Vec::new()).await;
    let ada = caller("ada", &["writer"]);
    let five = ticket(&denied(&gated.pay(&ada, r#"{"amount":5,"to":"bob"}"#).await));
    assert_eq!(five.len(), 12);
    gated.approve(&five).await.unwrap();

    let six = ticket(&denied(&gated.pay(&ada, r#"{"amount":6,"to":"bob"}"#).await));
    assert_ne!(five, six);
    assert_eq!(gated.pay.runs(), 0);

    // The same call otherwise spelled is the same call, and the other one has not burnt its ticket.
    executed(&gated.pay(&ada, r#"{ "to":"bob", "amount": 5 }"#).await);
    assert_eq!(ticket(&denied(&gated.pay(&ada, r#"{"amount":5,"to":"bob"}"#).await)), five);
    assert_eq!(gated.pay.runs(), 1);
}

#[tokio::test]
async fn b2_an_approval_is_for_one_caller_and_is_given_once() {
    let gated = Gated::with(Vec::new()).await;
    let (ada, bob) = (caller("ada", &[]), caller("bob", &[]));
    let adas = ticket(&denied(&gated.pay(&ada, "{}").await));
    gated.approve(&adas).await.unwrap();
    assert!(matches!(gated.approve(&adas).await, Err(ApprovalError::NotPending { .. })));
    assert!(matches!(gated.approve("0123456789ab").await, Err(ApprovalError::Unknown(_))));
    assert_ne!(ticket(&denied(&gated.pay(&bob, "{}").await)), adas);
    executed(&gated.pay(&ada, "{}").await);
    assert_eq!(gated.pay.runs(), 1);
}

#[tokio::test]
async fn b3_an_approval_comes_back_when_another_listener_refuses() {
    let refusing = Arc::new(AtomicBool::new(true));
    let refuses = refusing.clone();
    let other = Scripted::default().on_before_call(move |_| match refuses.load(Ordering::SeqCst) {
        true => Ok(Verdict::Deny(Denial::new("not today").unwrap())),
        false => Ok(Verdict::Proceed),
    });
    let gated = Gated::with(vec![testing::subscription("other", Arc::new(other))]).await;
    let ada = caller("ada", &[]);
    let needed = ticket(&denied(&gated.pay(&ada, "{}").await));
    gated.approve(&needed).await.unwrap();
    assert_eq!(denied(&gated.pay(&ada, "{}").await), "not today");
    assert_eq!(gated.pay.runs(), 0);

    refusing.store(false, Ordering::SeqCst);
    executed(&gated.pay(&ada, "{}").await);
    denied(&gated.pay(&ada, "{}").await);
    assert_eq!(gated.pay.runs(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn b7_of_many_equal_calls_one_gets_the_approval() {
    let gated = Gated::with(Vec::new()).await;
    let ada = caller("ada", &[]);
    gated.approve(&ticket(&denied(&gated.pay(&ada, "{}").await))).await.unwrap();
    let calls: Vec<_> = (0..20).map(|_| gated.dispatcher.call(host::call(&ada, "pay", "{}", "{}"))).collect();
    let mut ran = 0;
    for call in calls {
        match call.await {
            Outcome::Executed(_) => ran += 1,
            other => drop(denied(&other)),
        }
    }
    assert_eq!((ran, gated.pay.runs()), (1, 1));
}
