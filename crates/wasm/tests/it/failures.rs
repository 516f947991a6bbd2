//! Everything that a guest can do wrong is a failure of a named kind (F1), and of that one event (F2).

use std::time::Duration;

use callgate_core::ListenerFailure;
use callgate_core::failure::InvalidDecision;
use callgate_core::listener::GrantQuery;
use callgate_core::listener::Listener;
use callgate_core::testing::{caller, granted_call};
use callgate_core::{ToolRegistry, Verdict};
use callgate_wasm::{ListenerOptions, SandboxLimits};
use std::sync::Arc;

use crate::kit::imports::{EXIT, REGISTRY, STDERR};
use crate::kit::{self, before, before_with, deny_with};
use crate::sandbox::{before_call, failure, failure_with, listener, options, patient};

#[track_caller]
fn assert_trap(failure: &ListenerFailure, part: &str) {
    let ListenerFailure::Trap { detail, .. } = failure else { panic!("{failure:?}") };
    assert!(detail.contains(part), "{detail}");
}

#[track_caller]
fn assert_bad_return(failure: &ListenerFailure, part: &str) {
    let ListenerFailure::BadReturn(detail) = failure else { panic!("{failure:?}") };
    assert!(detail.contains(part), "{detail}");
}

#[tokio::test]
async fn f1_a_trap_names_its_kind_and_the_guests_frames() {
    let body = "(call $inner) (i32.const 0)";
    let failure = failure(before_with("(func $inner unreachable)", body)).await;
    assert_trap(&failure, "`unreachable`");
    assert_trap(&failure, "inner");
    assert_trap(&failure, "decide");
}

#[tokio::test]
async fn f1_every_kind_of_trap_is_one() {
    let cases = [
        ("(i32.div_s (i32.const 1) (i32.const 0))", "divide by zero"),
        ("(i32.load (i32.const -4))", "out of bounds memory access"),
        ("(i32.trunc_f64_s (f64.const nan))", "invalid conversion to integer"),
    ];
    for (body, part) in cases {
        assert_trap(&failure(before(body)).await, part);
    }
}

#[tokio::test]
async fn f1_endless_recursion_exhausts_the_guests_stack_and_not_the_hosts() {
    let guest = before_with(
        "(func $again (param i32) (result i32) (call $again (i32.add (local.get 0) (i32.const 1))) (i32.add (i32.const 1)))",
        "(call $again (i32.const 0))",
    );
    assert_trap(&failure(guest).await, "call stack exhausted");
}

fn hasty() -> ListenerOptions {
    let limits = SandboxLimits { decision_deadline: Duration::from_millis(50), ..patient() };
    ListenerOptions { limits, ..options() }
}

/// The neighbour's deadline is a minute, so that these end at all shows that the guests were stopped.
#[tokio::test]
async fn f1_a_guest_that_never_ends_meets_its_deadline() {
    let deadline = ListenerFailure::Deadline(Duration::from_millis(50));
    let spin = before("(loop $again (br $again)) (i32.const 0)");
    assert_eq!(failure_with(spin, hasty()).await, deadline);
    let fill = before(
        "(drop (memory.grow (i32.const 1000)))
         (loop $again (memory.fill (i32.const 0) (i32.const 1) (i32.const 60000000)) (br $again)) (i32.const 0)",
    );
    assert_eq!(failure_with(fill, hasty()).await, deadline);
}

#[tokio::test]
async fn f1_the_deadline_holds_while_an_instance_is_created() {
    let spin = before_with("(func $spin (loop $again (br $again))) (start $spin)", kit::PROCEED);
    assert_eq!(failure_with(spin, hasty()).await, ListenerFailure::Deadline(Duration::from_millis(50)));
}

#[tokio::test]
async fn f1_an_instance_that_can_not_be_created_is_a_failure() {
    let trapping = before_with("(func $trap unreachable) (start $trap)", kit::PROCEED);
    assert_trap(&failure(trapping).await, "`unreachable`");
    let outside = before_with("(data (i32.const 262144) \"x\")", kit::PROCEED);
    assert_trap(&failure(outside).await, "out of bounds memory access");
}

#[tokio::test]
async fn f1_exit_ends_the_event_and_nothing_else() {
    for (status, code) in [(0, 0), (1, 1)] {
        let failure = failure(before_with(EXIT, &format!("(call $exit (i32.const {status})) (i32.const 0)"))).await;
        let ListenerFailure::Exit { code: given, .. } = failure else { panic!("{failure:?}") };
        assert_eq!(given, code);
    }
}

#[tokio::test]
async fn f1_what_can_not_be_read_is_a_bad_return() {
    let text_at = |pointer: &str, length: &str| {
        before(&format!(
            "(i32.store8 (i32.const 4) (i32.const 1)) (i32.store (i32.const 8) (i32.const {pointer}))
             (i32.store (i32.const 12) (i32.const {length})) (i32.const 0)"
        ))
    };
    assert_bad_return(&failure(text_at("0x7fff0000", "100")).await, "out of bounds");
    assert_bad_return(&failure(text_at("1024", "-1")).await, "out of bounds");
    assert_bad_return(&failure(before("(i32.const 9)")).await, "aligned");
    assert_bad_return(&failure(before("(i32.const -16)")).await, "out of bounds");
    assert_bad_return(&failure(before("(i32.store8 (i32.const 0) (i32.const 7)) (i32.const 0)")).await, "discriminant");
    let invalid = before_with(r#"(data (i32.const 1024) "ab\ff\fecd")"#, &deny_with(6));
    assert_bad_return(&failure(invalid).await, "utf-8");
}

#[tokio::test]
async fn f1_an_allocator_at_fault_is_a_failure() {
    let with = |body: &str| {
        let realloc = format!("(func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32) {body})");
        let core = format!("(memory (export \"memory\") 4) {realloc} {} {})", kit::BEFORE_DECIDE, kit::PROCEED);
        kit::component("before", &core)
    };
    assert_trap(&failure(with("unreachable")).await, "`unreachable`");
    assert_bad_return(&failure(with("(i32.const 0x7fff0000)")).await, "realloc");
    assert_bad_return(&failure(with("(i32.const 3)")).await, "realloc");
    let spinning = failure_with(with("(loop $again (br $again)) (i32.const 0)"), hasty()).await;
    assert_eq!(spinning, ListenerFailure::Deadline(Duration::from_millis(50)));
}

#[tokio::test]
async fn f1_an_error_of_the_hook_is_bounded_and_fit_for_a_log() {
    let returning = |text: &str, length: usize| {
        before_with(
            &format!("(data (i32.const 1024) \"{text}\")"),
            &format!(
                "(i32.store8 (i32.const 0) (i32.const 1)) (i32.store (i32.const 4) (i32.const 1024))
                 (i32.store (i32.const 8) (i32.const {length})) (i32.const 0)"
            ),
        )
    };
    let returned = |text: &str| ListenerFailure::Returned(text.into());
    assert_eq!(failure(returning("no\\0d\\0a\\1b[31mfake: line", 19)).await, returned("no [31mfake: line"));
    let ListenerFailure::Returned(text) = failure(returning(&"x".repeat(5_000), 5_000)).await else { panic!() };
    assert_eq!(text.chars().count(), 4_097);
    assert_eq!(failure(returning("", 0)).await, returned(""));
}

#[tokio::test]
async fn b4_a_denial_for_no_reason_is_a_failure_of_the_listener() {
    for reason in ["", " \\0a\\09"] {
        let guest = before_with(
            &format!("(data (i32.const 1024) \"{reason}\")"),
            &deny_with(if reason.is_empty() { 0 } else { 3 }),
        );
        assert_eq!(failure(guest).await, ListenerFailure::InvalidDecision(InvalidDecision::EmptyReason));
    }
}

#[tokio::test]
async fn b5_an_answer_that_is_no_json_is_a_failure_of_the_listener() {
    let guest = before_with(
        "(data (i32.const 1024) \"{content\")",
        "(i32.store8 (i32.const 4) (i32.const 2)) (i32.store (i32.const 8) (i32.const 1024))
         (i32.store (i32.const 12) (i32.const 8)) (i32.const 0)",
    );
    let failure = failure(guest).await;
    assert!(matches!(&failure, ListenerFailure::InvalidDecision(InvalidDecision::NotAToolResult(_))), "{failure:?}");
}

#[tokio::test]
async fn f1_a_failure_carries_the_end_of_what_the_guest_wrote() {
    let panics = before_with(
        &format!("{STDERR} (data (i32.const 1024) \"thread panicked at policy.rs:7: \\1b[31mno rule\\0a\")"),
        "(call $write (call $stderr) (i32.const 1024) (i32.const 44) (i32.const 0)) unreachable",
    );
    let failure = failure(panics).await;
    let ListenerFailure::Trap { stderr, .. } = &failure else { panic!("{failure:?}") };
    assert_eq!(stderr, "thread panicked at policy.rs:7: [31mno rule");
}

#[tokio::test]
async fn f1_a_flood_of_output_is_no_failure_and_only_its_end_is_kept() {
    let flood = |end: &str| {
        before_with(
            &format!("{STDERR} (data (i32.const 1024) \"{}\")", "0123456789abcdef".repeat(256)),
            &format!(
                "(local $err i32) (local $left i32)
                 (local.set $err (call $stderr)) (local.set $left (i32.const 500))
                 (loop $again
                   (call $write (local.get $err) (i32.const 1024) (i32.const 4096) (i32.const 0))
                   (if (i32.load8_u (i32.const 0)) (then unreachable))
                   (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
                 {end}"
            ),
        )
    };
    assert_eq!(before_call(&listener(flood("(i32.const 0)")).await).await, Ok(Verdict::Proceed));
    let failure = failure(flood("unreachable")).await;
    let ListenerFailure::Trap { stderr, .. } = &failure else { panic!("{failure:?}") };
    assert_eq!(stderr.len(), 16 << 10);
    assert!(stderr.ends_with("0123456789abcdef"));
}

#[tokio::test]
async fn only_the_grant_hook_reaches_the_rows() {
    assert_trap(&failure(before_with(REGISTRY, "(call $count)")).await, "only the grant hook");
}

#[tokio::test]
async fn f1_the_other_hooks_fail_in_the_same_way() {
    let core = format!("{} {} unreachable)", kit::MEMORY, kit::GRANT_DECIDE);
    let guest = listener(kit::component("grant", &core)).await;
    let query = GrantQuery { caller: caller("ada", &["writer"]), registry: Arc::new(ToolRegistry::default()) };
    assert_trap(&guest.grant(&query).await.unwrap_err(), "`unreachable`");
    // Listeners are not asked for hooks that they do not have. If one were, it would have failed.
    assert!(guest.before_call(&granted_call("read", "{}")).await.is_err());
}

#[tokio::test]
async fn what_is_never_granted_is_there_and_ends_the_event_when_it_is_called() {
    let imports = r#"
      (import "wasi:http/outgoing-handler@0.2.0" "[constructor]request" (func $request (result i32)))
      (import "wasi:http/outgoing-handler@0.2.0" "handle" (func $handle (param i32) (result i32)))
      (import "wasi:io/poll@0.2.0" "[method]pollable.ready" (func $ready (param i32) (result i32)))"#;
    let guest =
        |body: &str| kit::component("http", &format!("{imports} {} {} {body})", kit::MEMORY, kit::BEFORE_DECIDE));
    assert_eq!(before_call(&listener(guest(kit::PROCEED)).await).await, Ok(Verdict::Proceed));
    let failure = failure(guest("(drop (call $ready (call $handle (call $request)))) (i32.const 0)")).await;
    assert_trap(&failure, "wasi:http/outgoing-handler@0.2.0#[constructor]request");
}
