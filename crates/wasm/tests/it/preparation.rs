//! What an instance does ahead of its event, and that its event finds nothing of anybody else's (F5).

use std::sync::Arc;
use std::time::Duration;

use callgate_core::grant::GrantAnswer;
use callgate_core::listener::{GrantQuery, Listener};
use callgate_core::testing::{caller, tool};
use callgate_core::{ListenerFailure, ToolRegistry, Verdict};
use callgate_wasm::bench::ready;
use callgate_wasm::{ListenerOptions, SandboxLimits, WasmListener};

use crate::kit::{self, PREPARE};
use crate::sandbox::{before_call, listener, listener_with, options, patient};

/// Ends a preparation that wants so many rehearsals. The result lies where no verdict does.
fn wanting(rehearsals: u32) -> String {
    format!("(i32.store (i32.const 4100) (i32.const {rehearsals})) (i32.const 4096)")
}

fn prepared(items: &str, prepare: &str, decide: &str) -> Vec<u8> {
    let core = format!("{items} {} {PREPARE} {prepare}) {} {decide})", kit::MEMORY, kit::BEFORE_DECIDE);
    kit::component("prepared", &core)
}

/// Denies, and says how often the instance was prepared and how often it was asked.
fn counting(rehearsals: u32) -> Vec<u8> {
    let count = |global: &str| format!("(global.set {global} (i32.add (global.get {global}) (i32.const 1)))");
    let decide = format!(
        "{} (i32.store8 (i32.const 1024) (global.get $prepared)) (i32.store8 (i32.const 1025) (global.get $asked)) {}",
        count("$asked"),
        kit::deny_with(2)
    );
    prepared(
        "(global $prepared (mut i32) (i32.const 48)) (global $asked (mut i32) (i32.const 48))",
        &format!("{} {}", count("$prepared"), wanting(rehearsals)),
        &decide,
    )
}

async fn reason(guest: &WasmListener) -> String {
    match before_call(guest).await {
        Ok(Verdict::Deny(denial)) => denial.reason().to_owned(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn f5_an_instance_is_prepared_once_and_asked_once() {
    let guest = listener(counting(0)).await;
    for _ in 0..20 {
        assert_eq!(reason(&guest).await, "11");
    }
}

#[tokio::test]
async fn an_instance_that_was_made_ahead_has_had_its_rehearsals() {
    let guest = listener(counting(3)).await;
    for _ in 0..20 {
        ready(&guest).await;
        assert_eq!(reason(&guest).await, "14");
    }
}

#[tokio::test]
async fn an_event_does_not_wait_for_rehearsals() {
    let limits = SandboxLimits { ready: 0, ..patient() };
    let guest = listener_with(counting(3), ListenerOptions { limits, ..options() }).await;
    assert_eq!(reason(&guest).await, "11");
}

#[tokio::test]
async fn rehearsals_are_not_without_end() {
    let guest = listener(counting(u32::MAX)).await;
    ready(&guest).await;
    // '0' and 16 rehearsals and the event.
    assert_eq!(reason(&guest).await, "1A");
}

#[tokio::test]
async fn f1_a_preparation_that_fails_is_a_failure_of_the_event() {
    let error = "(i32.store8 (i32.const 4096) (i32.const 1)) (i32.store (i32.const 4100) (i32.const 1024))
        (i32.store (i32.const 4104) (i32.const 8)) (i32.const 4096)";
    let data = r#"(data (i32.const 1024) "no table")"#;
    let guest = listener(prepared(data, error, kit::PROCEED)).await;
    assert_eq!(before_call(&guest).await, Err(ListenerFailure::Returned("no table".into())));
    let guest = listener(prepared("", "unreachable", kit::PROCEED)).await;
    assert_eq!(before_call(&guest).await.unwrap_err().kind(), "trap");
}

#[tokio::test]
async fn f1_a_preparation_that_never_ends_is_a_missed_deadline() {
    let short = Duration::from_millis(50);
    let limits = SandboxLimits { decision_deadline: short, preparation_deadline: short, ..patient() };
    let spinning = prepared("", "(loop $again (br $again)) (i32.const 4096)", kit::PROCEED);
    let guest = listener_with(spinning, ListenerOptions { limits, ..options() }).await;
    assert_eq!(before_call(&guest).await, Err(ListenerFailure::Deadline(short)));
    // The thread that makes instances ahead is not in its hands.
    let neighbour = listener(counting(1)).await;
    ready(&neighbour).await;
    assert_eq!(reason(&neighbour).await, "12");
}

/// The keeper gives it up at its own deadline, which is not that of an event.
#[tokio::test]
async fn f1_a_preparation_that_never_ends_is_given_up() {
    let limits = SandboxLimits {
        decision_deadline: Duration::from_secs(3_600),
        preparation_deadline: Duration::from_millis(20),
        ready: 1,
        ..patient()
    };
    let spinning = prepared("", "(loop $again (br $again)) (i32.const 4096)", kit::PROCEED);
    let guest = listener_with(spinning, ListenerOptions { limits, ..options() }).await;
    let component = Arc::downgrade(guest.component());
    drop(guest);
    // What the keeper is at holds the component until it gives up.
    while component.strong_count() > 0 {
        tokio::task::yield_now().await;
    }
}

/// The made-up caller's name has nine letters, and the real one's three.
#[tokio::test]
async fn a_rehearsal_that_fails_costs_no_event() {
    let traps_in_rehearsal = "(if (i32.eq (i32.load offset=12 (local.get $call)) (i32.const 9)) (then unreachable))";
    let guest = listener(prepared("", &wanting(1), &format!("{traps_in_rehearsal} {}", kit::PROCEED))).await;
    for _ in 0..10 {
        ready(&guest).await;
        assert_eq!(before_call(&guest).await, Ok(Verdict::Proceed));
    }
}

/// Counts the rows when it prepares itself, and decides for a name with as many letters.
fn counting_rows() -> Vec<u8> {
    let imports = r#"(import "callgate:listener/registry@0.1.0" "count" (func $count (result i32)))
        (global $rows (mut i32) (i32.const 0)) (data (i32.const 1024) "aaaaaaaa")"#;
    let prepare = format!("(global.set $rows (call $count)) {}", wanting(1));
    let decide = "(i32.store (i32.const 2048) (i32.const 1024)) (i32.store (i32.const 2052) (global.get $rows))
        (i32.store8 (i32.const 4) (i32.const 1))
        (i32.store (i32.const 8) (i32.const 2048)) (i32.store (i32.const 12) (i32.const 1)) (i32.const 0)";
    let core = format!("{imports} {} {PREPARE} {prepare}) {} {decide})", kit::MEMORY, kit::GRANT_DECIDE);
    kit::component("prepared-grant", &core)
}

#[tokio::test]
async fn g1_what_was_prepared_over_other_rows_decides_nothing() {
    let guest = listener(counting_rows()).await;
    let registry = |names: &[&str]| Arc::new(ToolRegistry::new(names.iter().map(|name| tool(name))).unwrap());
    let (two, three) = (registry(&["a", "b"]), registry(&["a", "b", "c"]));
    for registry in [&two, &three, &three, &two, &three] {
        let query = GrantQuery { caller: caller("ada", &[]), registry: registry.clone() };
        for _ in 0..3 {
            let Ok(GrantAnswer::Narrow(narrowing)) = guest.grant(&query).await else { panic!("it abstained") };
            let name = narrowing.identifiers().next().unwrap().to_owned();
            assert_eq!(name.len(), registry.rows().len());
            ready(&guest).await;
        }
    }
}

#[tokio::test]
async fn f5_what_waits_goes_with_its_listener() {
    let guest = listener(counting(0)).await;
    ready(&guest).await;
    let component = Arc::downgrade(guest.component());
    drop(guest);
    // The keeper may still be at work for it.
    while component.strong_count() > 0 {
        tokio::task::yield_now().await;
    }
}
