//! What a guest reaches through `callgate:host/state`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use callgate_core::state::{MemoryState, StateError};
use callgate_core::{ListenerFailure, StateStore, Verdict};
use callgate_wasm::{Capability, ListenerOptions, SandboxLimits};
use tokio::sync::Notify;

use crate::kit::{before_with, deny_with};
use crate::sandbox::{before_call, failure_with, listener_with, options, patient};

/// The core import of `get`, and the key `k`. Its result lies where the third parameter says: discriminant of the result,
/// at 4 that of the option or of the error, from 8 on the text.
pub(crate) const READS_STATE: &str = r#"
  (import "callgate:host/state@0.1.0" "get" (func $get (param i32 i32 i32)))
  (data (i32.const 1024) "k")
"#;

const GET: &str = "(call $get (i32.const 1024) (i32.const 1) (i32.const 64))";

/// A store that never answers.
#[derive(Debug, Default)]
pub(crate) struct StuckState {
    pub(crate) asked: Notify,
}

/// A store that panics.
#[derive(Debug)]
struct BrokenState;

macro_rules! store {
    ($name:ty, $self:ident, $answer:expr) => {
        #[async_trait]
        impl StateStore for $name {
            async fn get(&$self, _: &str, _: &str) -> Result<Option<String>, StateError> {
                $answer
            }
            async fn compare_and_swap(
                &$self, _: &str, _: &str, _: Option<&str>, _: Option<&str>, _: Option<Duration>,
            ) -> Result<bool, StateError> {
                $answer
            }
            async fn set(&$self, _: &str, _: &str, _: &str, _: Option<Duration>) -> Result<(), StateError> {
                $answer
            }
            async fn put_if_absent(
                &$self, _: &str, _: &str, _: &str, _: Option<Duration>,
            ) -> Result<Option<String>, StateError> {
                $answer
            }
            async fn increment(&$self, _: &str, _: &str, _: i32, _: Option<Duration>) -> Result<i32, StateError> {
                $answer
            }
            async fn delete(&$self, _: &str, _: &str) -> Result<bool, StateError> {
                $answer
            }
            async fn scan(&$self, _: &str, _: &str, _: usize) -> Result<Vec<(String, String)>, StateError> {
                $answer
            }
        }
    };
}

store!(StuckState, self, {
    self.asked.notify_one();
    std::future::pending().await
});
store!(BrokenState, self, panic!("the store is broken"));

fn granted(state: Arc<dyn StateStore>) -> ListenerOptions {
    ListenerOptions { state, capabilities: [Capability::State].into(), ..options() }
}

/// Denies for the value under `k`; proceeds if there is none.
fn denies_for_the_value() -> Vec<u8> {
    before_with(
        READS_STATE,
        &format!(
            "{GET}
             (if (i32.load8_u (i32.const 64)) (then unreachable))
             (if (i32.eqz (i32.load8_u (i32.const 68))) (then (return (i32.const 0))))
             (i32.store8 (i32.const 4) (i32.const 1))
             (i32.store (i32.const 8) (i32.load (i32.const 72))) (i32.store (i32.const 12) (i32.load (i32.const 76)))
             (i32.const 0)"
        ),
    )
}

#[tokio::test]
async fn f5_what_lasts_is_kept_under_the_listeners_own_name() {
    let state = Arc::new(MemoryState::default());
    state.set("guest", "k", "mine", None).await.unwrap();
    let guest = listener_with(denies_for_the_value(), granted(state.clone())).await;
    let Ok(Verdict::Deny(denial)) = before_call(&guest).await else { panic!("no denial") };
    assert_eq!(denial.reason(), "mine");
    let other = ListenerOptions { name: "other".into(), ..granted(state) };
    assert_eq!(before_call(&listener_with(denies_for_the_value(), other).await).await, Ok(Verdict::Proceed));
}

#[tokio::test]
async fn state_that_was_not_granted_answers_with_an_error() {
    let guest = before_with(
        READS_STATE,
        &format!(
            "{GET} (if (result i32) (i32.and (i32.load8_u (i32.const 64)) (i32.eqz (i32.load8_u (i32.const 68))))
               (then {}) (else (i32.const 0)))",
            deny_with(1)
        ),
    );
    let guest = listener_with(guest, options()).await;
    let Ok(Verdict::Deny(denial)) = before_call(&guest).await else { panic!("it was not refused") };
    assert_eq!(denial.reason(), "k");
}

/// Denies with the text of the error, which has to be that of a store that is not available.
fn denies_for_the_error() -> Vec<u8> {
    before_with(
        READS_STATE,
        &format!(
            "{GET}
             (if (i32.eqz (i32.load8_u (i32.const 64))) (then unreachable))
             (if (i32.ne (i32.load8_u (i32.const 68)) (i32.const 3)) (then unreachable))
             (i32.store8 (i32.const 4) (i32.const 1))
             (i32.store (i32.const 8) (i32.load (i32.const 72))) (i32.store (i32.const 12) (i32.load (i32.const 76)))
             (i32.const 0)"
        ),
    )
}

#[tokio::test]
async fn f1_a_store_that_does_not_answer_leaves_the_guest_time_to_decide() {
    let limits = SandboxLimits { decision_deadline: Duration::from_secs(1), ..patient() };
    let options = ListenerOptions { limits, ..granted(Arc::new(StuckState::default())) };
    let verdict = before_call(&listener_with(denies_for_the_error(), options).await).await;
    let Ok(Verdict::Deny(denial)) = verdict else { panic!("{verdict:?}") };
    assert_eq!(denial.reason(), "the store did not answer in time");
}

#[tokio::test]
async fn f2_a_panic_in_a_host_call_is_a_failure_of_that_event() {
    let failure = failure_with(denies_for_the_value(), granted(Arc::new(BrokenState))).await;
    let ListenerFailure::Trap { detail, .. } = &failure else { panic!("{failure:?}") };
    assert!(detail.contains("the store is broken"), "{detail}");
}

#[tokio::test]
async fn f1_traffic_with_the_store_is_limited() {
    let state = Arc::new(MemoryState::default());
    state.set("guest", "k", &"x".repeat(1_000), None).await.unwrap();
    let endless = before_with(READS_STATE, &format!("(loop $again {GET} (br $again)) (i32.const 0)"));
    let failure = failure_with(endless, granted(state)).await;
    assert!(matches!(failure, ListenerFailure::Limit { limit: "state", .. }), "{failure:?}");
}
