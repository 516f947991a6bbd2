//! How a session ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use callgate_core::listener::Hooks;
use callgate_core::report::CallReport;
use callgate_core::subscription::Delivery;
use callgate_core::{Listener, ListenerFailure, Subscription};

use crate::rig::{Rig, Setup, call};

/// Takes nearly as long over an event as a configuration allows.
#[derive(Debug, Default)]
struct Slow(AtomicUsize);

#[async_trait]
impl Listener for Slow {
    fn hooks(&self) -> Hooks {
        Hooks { after_call: true, ..Hooks::default() }
    }

    async fn after_call(&self, _report: &CallReport) -> Result<(), ListenerFailure> {
        tokio::time::sleep(Duration::from_secs(59)).await;
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a1_an_end_waits_for_the_events_of_the_slowest_listeners() {
    let (first, second) = (Arc::new(Slow::default()), Arc::new(Slow::default()));
    let deadline = Duration::from_secs(60);
    let subscribed = |name, slow: &Arc<Slow>, delivery| Subscription::new(name, slow.clone(), deadline, delivery);
    let listeners =
        vec![subscribed("first", &first, Delivery::BeforeReply), subscribed("second", &second, Delivery::BehindReply)];
    let mut rig = Rig::with_tools(Setup { listeners, ..Setup::default() }, &["slow"]).await;
    rig.client.say(call("1", "slow")).await;
    assert_eq!(rig.up().hear().await, call("1", "slow"));
    rig.client.close().await;
    rig.served.await.unwrap().unwrap();
    assert_eq!((first.0.load(Ordering::SeqCst), second.0.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(rig.dispatcher.counters().dropped_events, 0);
}

/// A request that is answered at once, with as much as is asked.
fn asking() -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"tasks/get"}}"#, "x".repeat(8_192))
}

/// More than anything here takes. It is not the machine's time: it passes where nobody has anything to do.
const LONG: Duration = Duration::from_secs(300);

#[tokio::test(start_paused = true)]
async fn w3_a_client_that_does_not_read_can_end_the_session_all_the_same() {
    let mut rig = Setup::default().begin();
    let ended = async {
        // More than fits in between.
        for _ in 0..600 {
            rig.client.say(asking()).await;
        }
        rig.client.close().await;
        rig.served.await.unwrap().unwrap();
    };
    tokio::time::timeout(LONG, ended).await.expect("the session does not end");
}

#[tokio::test(start_paused = true)]
async fn w3_a_client_that_asks_and_never_reads_is_given_up() {
    let mut rig = Setup::default().begin();
    let ended = async {
        while rig.client.try_say(asking()).await.is_ok() {}
        rig.served.await.unwrap().unwrap();
    };
    tokio::time::timeout(LONG, ended).await.expect("the session does not end");
}
