//! What other languages make of a failure: JavaScript throws, Python raises. Neither says more to the sandbox than that it is
//! over, so what it was is in the record from standard error.

use std::sync::Arc;

use callgate_core::permissions::Permissions;
use callgate_core::state::MemoryState;
use callgate_core::testing::{self, caller};
use callgate_core::{Dispatcher, StateStore};
use callgate_tests::built::guest_in;
use callgate_tests::host::{self, Component};
use callgate_tests::records::Records;
use callgate_tests::tools::numbered;
use serde_json::json;

use super::NOT_VERIFIED;
use super::rig::said;

/// The guest with patterns that are none, so that it fails over a reader, and with a counter that is none, so that it fails
/// after a call.
async fn failing(language: &str) -> Dispatcher {
    let state: Arc<dyn StateStore> = Arc::new(MemoryState::default());
    state.set("guest", "calls", "many", None).await.unwrap();
    let guest = Component::at("guest", guest_in(language, "listener")).configured("reader", json!(5));
    let tools = vec![numbered(testing::row("record")).0];
    host::dispatcher(tools, Permissions::default(), vec![guest.over(&state).await])
}

async fn fails_in_words_of_its_own(language: &str) {
    let dispatcher = failing(language).await;
    let records = Records::of_this_thread();
    let call = async |role| said(dispatcher.call(testing::request(Some(caller("ada", &[role])), "record", "{}")).await);
    assert_eq!(call("reader").await, NOT_VERIFIED, "{language}");
    assert_eq!(call("writer").await, r#"{ "content":[{"text":"run 1","type":"text"}],"future": 1.50e1}"#, "{language}");

    let records = records.take("a listener failed");
    let of_hook = |hook: &str| records.iter().filter(|record| record["hook"] == hook).collect::<Vec<_>>();
    let (grant, after) = (of_hook("grant"), of_hook("after-call"));
    // Also the call that could not be decided has an end that is told.
    assert_eq!((grant.len(), after.len(), records.len()), (1, 2, 3), "{language}: {records:?}");
    for (record, function) in [(grant[0], "grant@0.1.0#decide"), (after[0], "after-call@0.1.0#notify")] {
        assert_eq!(record["kind"], "trap", "{language}: {record}");
        let failure = record["failure"].as_str().unwrap();
        for part in ["`unreachable`", function, "its standard error ended with: thread ", " panicked at "] {
            assert!(failure.contains(part), "{language}: `{part}` is not in {failure}");
        }
    }
}

#[tokio::test]
async fn g5_a3_f1_a_javascript_listener_that_throws() {
    fails_in_words_of_its_own("js").await;
}

#[tokio::test]
async fn g5_a3_f1_a_python_listener_that_raises() {
    fails_in_words_of_its_own("py").await;
}
