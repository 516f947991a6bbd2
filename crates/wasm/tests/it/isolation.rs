//! Nothing of one event is seen by another, and no listener is in the way of another (F2, F5).

use std::sync::Arc;
use std::time::Duration;

use callgate_core::listener::Listener;
use callgate_core::report::{CallReport, Dispatch, Ending};
use callgate_core::testing::granted_call;
use callgate_core::{ListenerFailure, Verdict};
use callgate_wasm::{Capability, ListenerOptions, Sandbox, SandboxConfig, SandboxLimits, WasmListener};
use tokio::task::JoinHandle;

use crate::kit::{self, before, before_with};
use crate::sandbox::{before_call, listener, listener_with, options, patient};
use crate::state::{READS_STATE, StuckState};

/// Counts in its memory and in a global, and denies with both digits as the reason.
fn counting() -> Vec<u8> {
    before_with(
        "(global $count (mut i32) (i32.const 48))",
        &format!(
            "(global.set $count (i32.add (global.get $count) (i32.const 1)))
             (i32.store8 (i32.const 2048) (i32.add (i32.load8_u (i32.const 2048)) (i32.const 1)))
             (i32.store8 (i32.const 1024) (global.get $count))
             (i32.store8 (i32.const 1025) (i32.add (i32.load8_u (i32.const 2048)) (i32.const 48)))
             {}",
            kit::deny_with(2)
        ),
    )
}

#[tokio::test]
async fn f5_a_guest_remembers_nothing() {
    let guest = listener(counting()).await;
    for _ in 0..40 {
        let verdict = before_call(&guest).await;
        let Ok(Verdict::Deny(denial)) = verdict else { panic!("{verdict:?}") };
        assert_eq!(denial.reason(), "11");
    }
}

/// More events than the pool has places, so that places are used again after every kind of end.
#[tokio::test]
async fn f5_a_place_that_is_used_again_is_empty() {
    let dirty = listener(before("(memory.fill (i32.const 0) (i32.const 255) (i32.const 262144)) unreachable")).await;
    let clean = listener(before(
        "(local $at i32)
         (local.set $at (i32.const 131072))
         (loop $again
           (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then unreachable))
           (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 262144))))
         (i32.const 0)",
    ))
    .await;
    for _ in 0..40 {
        assert_eq!(before_call(&dirty).await.unwrap_err().kind(), "trap");
        assert_eq!(before_call(&clean).await, Ok(Verdict::Proceed));
    }
}

#[tokio::test(flavor = "current_thread")]
async fn f2_a_guest_that_spins_does_not_stop_the_thread_that_it_runs_on() {
    let limits = SandboxLimits { decision_deadline: Duration::from_secs(3_600), ..patient() };
    let spinning =
        listener_with(before("(loop $again (br $again)) (i32.const 0)"), ListenerOptions { limits, ..options() }).await;
    let neighbour = listener(kit::proceeding()).await;
    let spin = tokio::spawn(async move { before_call(&spinning).await });
    for _ in 0..20 {
        assert_eq!(before_call(&neighbour).await, Ok(Verdict::Proceed));
    }
    // The only thread of this runtime comes back from the guest, or the test would never end.
    assert!(!spin.is_finished());
    spin.abort();
    assert!(spin.await.unwrap_err().is_cancelled());
}

/// Spins over the tool `long`, and proceeds over others.
const SPINS_OVER_ONE_TOOL: &str = "(if (i32.eq (i32.load8_u (i32.load offset=72 (local.get $call))) (i32.const 108))
    (then (loop $again (br $again)))) (i32.const 0)";

fn call(guest: &Arc<WasmListener>, tool: &'static str) -> JoinHandle<Result<Verdict, ListenerFailure>> {
    let guest = guest.clone();
    tokio::spawn(async move { guest.before_call(&granted_call(tool, "{}")).await })
}

/// Events that take long go on in the slow lane, so they have neither the listener's places nor the only thread. One more
/// keeps its place while it waits for the lane.
#[tokio::test(flavor = "current_thread")]
async fn f2_events_that_take_long_give_their_places_back() {
    let limits = SandboxLimits { concurrency: 2, decision_deadline: Duration::from_secs(3_600), ..patient() };
    let options = ListenerOptions { limits, ..options() };
    let guest = Arc::new(listener_with(before(SPINS_OVER_ONE_TOOL), options).await);
    let mut long = Vec::new();
    for _ in 0..2 {
        long.push(call(&guest, "long"));
        assert_eq!(call(&guest, "works").await.unwrap(), Ok(Verdict::Proceed));
    }
    // A caller that leaves gives its place in the lane to the one that waits, and that one gives its own back.
    let first = long.remove(0);
    first.abort();
    assert!(first.await.unwrap_err().is_cancelled());
    let next = call(&guest, "long");
    for _ in 0..4 {
        assert_eq!(call(&guest, "works").await.unwrap(), Ok(Verdict::Proceed));
    }
    assert!(long.iter().all(|event| !event.is_finished()));
    drop(next);
}

/// A burst of events that all take long, of a listener that gives itself the time for them: each is decided.
#[tokio::test(flavor = "multi_thread")]
async fn f2_events_that_take_long_wait_for_each_other() {
    let counting = "(local $left i32) (local.set $left (i32.const 30000000))
        (loop $again (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1))))) (i32.const 0)";
    let limits = SandboxLimits { concurrency: 4, ..patient() };
    let guest = Arc::new(listener_with(before(counting), ListenerOptions { limits, ..options() }).await);
    let events: Vec<_> = (0..40).map(|_| call(&guest, "works")).collect();
    for event in events {
        assert_eq!(event.await.unwrap(), Ok(Verdict::Proceed));
    }
}

/// Events that hang can not take all places of the sandbox by waiting for the lane.
#[tokio::test(flavor = "current_thread")]
async fn f2_those_that_wait_for_the_lane_leave_places() {
    let sandbox = Sandbox::new(SandboxConfig { slots: 4, ..SandboxConfig::default() }).unwrap();
    let limits = SandboxLimits { concurrency: 16, decision_deadline: Duration::from_secs(3_600), ..patient() };
    let component = sandbox.load_bytes(before(SPINS_OVER_ONE_TOOL), None).await.unwrap();
    let guest = Arc::new(WasmListener::new(component, ListenerOptions { limits, ..options() }).unwrap());
    let mut long = Vec::new();
    // Two for the lane, and two that wait.
    for _ in 0..4 {
        long.push(call(&guest, "long"));
        assert_eq!(call(&guest, "works").await.unwrap(), Ok(Verdict::Proceed));
    }
    assert_eq!(call(&guest, "long").await.unwrap(), Err(ListenerFailure::Overload));
    assert_eq!(call(&guest, "works").await.unwrap(), Ok(Verdict::Proceed));
    assert!(long.iter().all(|event| !event.is_finished()));
}

fn report() -> CallReport {
    CallReport {
        call: granted_call("read", "{}").context().clone(),
        ending: Ending::Withdrawn,
        dispatch: Dispatch::None,
        reply: None,
        duration: Duration::ZERO,
        steps: Vec::new(),
    }
}

/// Its after-call hook waits for state that never comes; its before-call hook does not.
fn stuck_afterwards() -> Vec<u8> {
    let core = format!(
        "{READS_STATE} {} {} (i32.const 0)) {} (call $get (i32.const 1024) (i32.const 1) (i32.const 64)) (i32.const 0))",
        kit::MEMORY,
        kit::BEFORE_DECIDE,
        kit::AFTER_NOTIFY
    );
    kit::component("both", &core)
}

/// A listener with so many places, all of which are asked for by so many events that hang.
async fn hanging(
    concurrency: usize,
    events: usize,
) -> (Arc<WasmListener>, Vec<JoinHandle<Result<(), ListenerFailure>>>) {
    let state = Arc::new(StuckState::default());
    let limits = SandboxLimits { concurrency, decision_deadline: Duration::from_millis(500), ..patient() };
    let stuck = ListenerOptions { limits, state: state.clone(), capabilities: [Capability::State].into(), ..options() };
    let stuck = Arc::new(listener_with(stuck_afterwards(), stuck).await);
    let hang = |stuck: Arc<WasmListener>| tokio::spawn(async move { stuck.after_call(&report()).await });
    let hanging = (0..events).map(|_| hang(stuck.clone())).collect();
    state.asked.notified().await;
    (stuck, hanging)
}

#[tokio::test]
async fn f2_a_listener_that_hangs_waits_for_itself() {
    let (stuck, mut waiting) = hanging(1, 1).await;
    let waiting = waiting.remove(0);
    assert_eq!(before_call(&stuck).await, Err(ListenerFailure::Overload));
    assert_eq!(before_call(&listener(kit::proceeding()).await).await, Ok(Verdict::Proceed));
    // A caller that leaves gives the place back.
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert_eq!(before_call(&stuck).await, Ok(Verdict::Proceed));
}

/// However many events hang after their calls, there are places for decisions.
#[tokio::test]
async fn f2_events_after_a_call_leave_places_to_decisions() {
    let (stuck, hanging) = hanging(4, 10).await;
    for _ in 0..20 {
        assert_eq!(before_call(&stuck).await, Ok(Verdict::Proceed));
    }
    hanging.iter().for_each(JoinHandle::abort);
}

#[tokio::test]
async fn f1_a_sandbox_without_a_free_place_says_so() {
    let sandbox = Sandbox::new(SandboxConfig { slots: 1, ..SandboxConfig::default() }).unwrap();
    let state = Arc::new(StuckState::default());
    let stuck = ListenerOptions { state: state.clone(), capabilities: [Capability::State].into(), ..options() };
    let component = sandbox.load_bytes(stuck_afterwards(), None).await.unwrap();
    let stuck = WasmListener::new(component, stuck).unwrap();
    let limits = SandboxLimits { decision_deadline: Duration::from_millis(50), ..patient() };
    let component = sandbox.load_bytes(kit::proceeding(), None).await.unwrap();
    let other = WasmListener::new(component, ListenerOptions { limits, ..options() }).unwrap();
    let waiting = tokio::spawn(async move { stuck.after_call(&report()).await });
    state.asked.notified().await;
    assert_eq!(before_call(&other).await, Err(ListenerFailure::Overload));
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    assert_eq!(before_call(&other).await, Ok(Verdict::Proceed));
}

/// Nobody's address space has room for a pool of that size.
#[tokio::test]
async fn without_a_pool_events_run_all_the_same() {
    let sandbox = Sandbox::new(SandboxConfig { slots: 100_000, ..SandboxConfig::default() }).unwrap();
    let component = sandbox.load_bytes(kit::proceeding(), None).await.unwrap();
    let guest = WasmListener::new(component, options()).unwrap();
    assert_eq!(before_call(&guest).await, Ok(Verdict::Proceed));
}
