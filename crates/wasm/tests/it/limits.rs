//! Every limit of an event: a guest that exceeds it has failed, and the failure names the limit (F1).

use callgate_core::ListenerFailure;
use callgate_core::Verdict;
use callgate_core::listener::{GrantQuery, Listener};
use callgate_core::testing::{caller, granted_call};
use callgate_core::{Json, ToolRegistry};
use callgate_wasm::{ListenerOptions, OptionsError, SandboxLimits, WasmListener};
use std::sync::Arc;

use crate::kit::imports::{STDERR, THING};
use crate::kit::{self, before, before_with, deny_with, with_items};
use crate::sandbox::{before_call, failure, failure_with, listener, listener_with, options, patient, sandbox};

#[track_caller]
fn assert_limit(failure: &ListenerFailure, expected: &str) {
    let ListenerFailure::Limit { limit, .. } = failure else { panic!("{failure:?}") };
    assert_eq!(*limit, expected);
}

fn limited(limits: SandboxLimits) -> ListenerOptions {
    ListenerOptions { limits, ..options() }
}

/// Grows as far as it gets and then ends the way language runtimes do.
const BOMB: &str = "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) unreachable";

#[tokio::test]
async fn f1_a_memory_bomb_meets_the_memory_limit() {
    assert_limit(&failure(before(BOMB)).await, "memory");
    let limits = SandboxLimits { memory: 1 << 20, ..patient() };
    assert_limit(&failure_with(before(BOMB), limited(limits)).await, "memory");
}

#[tokio::test]
async fn a_guest_may_live_with_a_memory_that_does_not_grow() {
    let modest = before(&BOMB.replace("unreachable", "(i32.const 0)"));
    assert_eq!(before_call(&listener(modest).await).await, Ok(Verdict::Proceed));
}

#[tokio::test]
async fn f1_memories_are_limited_by_their_sum() {
    let one = "(core module $big (memory 600)) (core instance (instantiate $big))";
    let roomy = with_items(&kit::proceeding(), one);
    assert_eq!(before_call(&listener(roomy).await).await, Ok(Verdict::Proceed));
    let two = with_items(&kit::proceeding(), &format!("{one} (core instance (instantiate $big))"));
    assert_limit(&failure(two).await, "memory");
}

#[tokio::test]
async fn f1_tables_are_limited_by_their_sum() {
    let one = "(core module $big (table 15000 funcref)) (core instance (instantiate $big))";
    let roomy = with_items(&kit::proceeding(), one);
    assert_eq!(before_call(&listener(roomy).await).await, Ok(Verdict::Proceed));
    let two = with_items(&kit::proceeding(), &format!("{one} (core instance (instantiate $big))"));
    assert_limit(&failure(two).await, "tables");
}

#[tokio::test]
async fn f1_instances_are_limited() {
    let eight = format!("(core module $none) {}", "(core instance (instantiate $none))".repeat(8));
    let guest = with_items(&kit::proceeding(), &eight);
    assert_eq!(before_call(&listener(guest.clone()).await).await, Ok(Verdict::Proceed));
    let limits = SandboxLimits { instances: 8, ..patient() };
    assert_limit(&failure_with(guest, limited(limits)).await, "instances");
}

#[tokio::test]
async fn f1_handles_of_the_host_are_limited() {
    let body = "(loop $again (drop (call $stderr)) (br $again)) (i32.const 0)";
    assert_limit(&failure(before_with(STDERR, body)).await, "handles");
}

#[tokio::test]
async fn f1_handles_of_the_guest_are_limited() {
    let core = format!(
        "{THING} {} {} (loop $again (drop (call $new (i32.const 1))) (br $again)) (i32.const 0))",
        kit::MEMORY,
        kit::BEFORE_DECIDE
    );
    assert_limit(&failure(kit::component("with-things", &core)).await, "handles");
}

/// A list of 65,536 texts that are all the same 64 KiB: 4 GiB for the host out of half a megabyte of the guest's.
#[tokio::test]
async fn f1_a_guest_can_not_make_the_host_copy_without_end() {
    let body = "(local $at i32)
        (drop (memory.grow (i32.const 16)))
        (local.set $at (i32.const 131072))
        (loop $again
          (i32.store offset=4 (local.get $at) (i32.const 65536))
          (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 655360))))
        (i32.store8 (i32.const 4) (i32.const 1))
        (i32.store (i32.const 8) (i32.const 131072)) (i32.store (i32.const 12) (i32.const 65536))
        (i32.const 0)";
    let core = format!("{} {} {body})", kit::MEMORY, kit::GRANT_DECIDE);
    let guest = listener(kit::component("grant", &core)).await;
    let query = GrantQuery { caller: caller("ada", &[]), registry: Arc::new(ToolRegistry::default()) };
    assert_limit(&guest.grant(&query).await.unwrap_err(), "hostcall-fuel");
}

#[tokio::test]
async fn f1_output_is_limited() {
    let guest = || before_with("(data (i32.const 1024) \"0123456789\")", &deny_with(10));
    let limits = SandboxLimits { output: 10, ..patient() };
    let denied = before_call(&listener_with(guest(), limited(limits)).await).await;
    assert!(matches!(denied, Ok(Verdict::Deny(_))), "{denied:?}");
    let limits = SandboxLimits { output: 9, ..patient() };
    assert_limit(&failure_with(guest(), limited(limits)).await, "output");
}

/// A before-call guest that denies when the arguments did not reach it inline, for a reason of one character.
fn denies_oversize() -> Vec<u8> {
    // The call's identifier, caller and id lie before its arguments; their discriminant is at 80.
    before_with(
        "(data (i32.const 1024) \"x\")",
        &format!(
            "(if (result i32) (i32.load8_u offset=80 (local.get $call)) (then {}) (else (i32.const 0)))",
            deny_with(1)
        ),
    )
}

#[tokio::test]
async fn f4_arguments_over_the_cap_reach_the_guest_as_a_marker() {
    let limits = SandboxLimits { payload: 100, ..patient() };
    let guest = listener_with(denies_oversize(), limited(limits)).await;
    let arguments = |length: usize| Json::parse(&format!("{{\"a\":\"{}\"}}", "x".repeat(length - 8))).unwrap();
    let small = guest.before_call(&granted_call("read", arguments(100).as_str())).await;
    assert_eq!(small, Ok(Verdict::Proceed));
    let large = guest.before_call(&granted_call("read", arguments(101).as_str())).await;
    assert!(matches!(large, Ok(Verdict::Deny(_))), "{large:?}");
}

/// Each of these calls is cheap, and there would be no end to them.
#[tokio::test]
async fn f1_calls_to_the_host_are_limited() {
    let import = r#"(import "callgate:host/config@0.1.0" "get" (func $get (param i32 i32 i32)))"#;
    let body = "(loop $again (call $get (i32.const 1024) (i32.const 1) (i32.const 64)) (br $again)) (i32.const 0)";
    assert_limit(&failure(before_with(import, body)).await, "host-calls");
}

#[tokio::test]
async fn a_limit_that_can_not_be_kept_is_refused() {
    let component = sandbox().load_bytes(kit::proceeding(), None).await.unwrap();
    let refused = |limits| WasmListener::new(component.clone(), limited(limits)).unwrap_err();
    for (limits, most) in [
        (SandboxLimits { memory: (256 << 20) + 1, ..patient() }, 256 << 20),
        (SandboxLimits { table_elements: 20_001, ..patient() }, 20_000),
        (SandboxLimits { instances: 65, ..patient() }, 64),
    ] {
        let OptionsError::AboveCeiling { limit, most: given, .. } = refused(limits) else { panic!("it was taken") };
        assert_eq!((limit, given), (most + 1, most));
    }
    assert!(matches!(refused(SandboxLimits { concurrency: 0, ..patient() }), OptionsError::Nothing(_)));
    assert!(matches!(refused(SandboxLimits { instances: 0, ..patient() }), OptionsError::Nothing(_)));
}
