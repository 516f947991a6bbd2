//! Cancelled requests (W6).

use std::sync::Arc;

use async_trait::async_trait;
use callgate_core::listener::Hooks;
use callgate_core::report::{CallFailure, Dispatch, Ending, FailureKind};
use callgate_core::testing::{Scripted, subscription};
use callgate_core::{GrantedCall, Listener, ListenerFailure, Verdict};
use tokio::sync::Semaphore;

use crate::rig::{Rig, Setup, call, until};

fn cancelled(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"enough"}}}}"#)
}

fn kept() -> Arc<Scripted> {
    Arc::new(Scripted::default().on_after_call(|_| Ok(())))
}

/// How the only call ended.
fn end_of(listener: &Scripted) -> (FailureKind, Dispatch) {
    match listener.reports().as_slice() {
        [report] => match &report.ending {
            Ending::Failed(CallFailure { kind, .. }) => (*kind, report.dispatch),
            other => panic!("the call ended as {other:?}"),
        },
        others => panic!("{} reports", others.len()),
    }
}

#[tokio::test]
async fn w6_a_call_that_was_forwarded_is_cancelled_upstream_and_not_answered() {
    let listener = kept();
    let mut rig = Rig::with_tools(Setup::listener(&listener), &["slow"]).await;
    rig.client.say(call("\"x\"", "slow")).await;
    assert_eq!(rig.up().hear().await, call("\"x\"", "slow"));
    rig.client.say(cancelled("\"x\"")).await;
    let heard = rig.up().hear_json().await;
    assert_eq!((&heard["method"], &heard["params"]["requestId"]), (&"notifications/cancelled".into(), &"x".into()));
    until(|| !listener.reports().is_empty()).await;
    assert_eq!(end_of(&listener), (FailureKind::Cancelled, Dispatch::Unknown));
    // A reply that comes too late goes nowhere.
    rig.up().say(r#"{"jsonrpc":"2.0","id":"x","result":{"content":[]}}"#).await;
    rig.settle().await;
    rig.end().await;
}

/// Does not decide before it is let to.
#[derive(Debug)]
struct Undecided {
    asked: Semaphore,
    released: Semaphore,
}

#[async_trait]
impl Listener for Undecided {
    fn hooks(&self) -> Hooks {
        Hooks { before_call: true, ..Hooks::default() }
    }

    async fn before_call(&self, _call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        self.asked.add_permits(1);
        self.released.acquire().await.unwrap().forget();
        Ok(Verdict::Proceed)
    }
}

#[tokio::test]
async fn w6_a_call_that_is_cancelled_while_listeners_decide_is_never_forwarded() {
    let undecided = Arc::new(Undecided { asked: Semaphore::new(0), released: Semaphore::new(0) });
    let listener = kept();
    let listeners = vec![subscription("undecided", undecided.clone()), subscription("kept", listener.clone())];
    let mut rig = Rig::with_tools(Setup { listeners, ..Setup::default() }, &["slow"]).await;
    rig.client.say(call("1", "slow")).await;
    let _asked = undecided.asked.acquire().await.unwrap();
    rig.client.say(cancelled("1")).await;
    // Other requests do not wait for the listener, and once this one came through the call is known to be cancelled.
    rig.settle().await;
    undecided.released.add_permits(1);
    until(|| !listener.reports().is_empty()).await;
    assert_eq!(end_of(&listener), (FailureKind::Cancelled, Dispatch::None));
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn w6_a_call_that_waits_for_the_listing_is_dropped_when_it_is_cancelled() {
    let listener = kept();
    let mut rig = Setup::listener(&listener).begin();
    rig.client.say(call("1", "slow")).await;
    let listing = rig.up().hear_json().await;
    rig.client.say(cancelled("1")).await;
    let heard = rig.up().hear_json().await;
    assert_eq!((&heard["method"], &heard["params"]["requestId"]), (&"notifications/cancelled".into(), &listing["id"]));
    rig.settle().await;
    assert!(listener.reports().is_empty());
    rig.end().await;
}

#[tokio::test]
async fn w2_any_other_request_is_cancelled_in_the_clients_own_words() {
    let mut rig = Setup::default().begin();
    let read = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x:y"}}"#;
    rig.client.say(read).await;
    assert_eq!(rig.up().hear().await, read);
    rig.client.say(cancelled("1")).await;
    assert_eq!(rig.up().hear().await, cancelled("1"));
    rig.settle().await;
    // Cancelling what is not under way concerns nobody.
    rig.client.say(cancelled("2")).await;
    rig.settle().await;
    rig.end().await;
}

#[tokio::test]
async fn w3_w6_the_late_reply_to_a_cancelled_request_answers_no_other_one() {
    let mut rig = Rig::with_tools(Setup::default(), &["slow"]).await;
    let read = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x:y"}}"#;
    for request in [call("1", "slow"), read.to_owned()] {
        rig.client.say(&request).await;
        assert_eq!(rig.up().hear().await, request);
        rig.client.say(cancelled("1")).await;
        assert_eq!(rig.up().hear_json().await["method"], "notifications/cancelled");
        rig.settle().await;
        // The reply could still come, and the client would take it for the reply to this.
        rig.client.say(&request).await;
        let refused = rig.client.hear_json().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&1.into(), &(-32600).into()));
        rig.up().say(r#"{"jsonrpc":"2.0","id":1,"result":{"content":["late"]}}"#).await;
        rig.settle().await;
    }
    // Once it has come the id is free again.
    rig.client.say(read).await;
    assert_eq!(rig.up().hear().await, read);
    let reply = r#"{"jsonrpc":"2.0","id":1,"result":{"content":["own"]}}"#;
    rig.up().say(reply).await;
    assert_eq!(rig.client.hear().await, reply);
    rig.end().await;
}
