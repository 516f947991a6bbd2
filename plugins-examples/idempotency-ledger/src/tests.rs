use std::time::Duration;

use callgate_guest::testing::{TestHost, call, caller, report, row};
use callgate_guest::{Failure, Oversize};

use super::*;

/// Spelled in a way that no serialiser would spell it.
const RESULT: &str = r#"{ "content":[{"type":"text","text":"paid \u0031"}], "x": 9007199254740993.0 }"#;
const STATE: &str = "key/";

fn order() -> ToolCall {
    call("pay", r#"{"amount":5,"to":"bob"}"#).with_meta(META_KEY, "\"order-17\"")
}

fn ask(call: &ToolCall) -> Verdict {
    IdempotencyLedger::decide(call.clone(), row(&call.identifier)).unwrap()
}

fn tell(call: &ToolCall, ending: Ending, dispatch: Dispatch, reply: Option<&str>) {
    IdempotencyLedger::notify(report(call.clone(), ending, dispatch, reply)).unwrap();
}

fn run(call: &ToolCall, reply: &str) {
    assert_eq!(ask(call), Verdict::Proceed);
    tell(call, Ending::Executed(Completion::Complete), Dispatch::Done, Some(reply));
}

fn failed(kind: &str) -> Ending {
    Ending::Failed(Failure { kind: kind.into(), listener: None, detail: String::new() })
}

fn reason(verdict: Verdict) -> String {
    match verdict {
        Verdict::Deny(denial) => denial.reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_repeat_gets_the_first_result_byte_for_byte() {
    let _host = TestHost::new();
    run(&order(), RESULT);
    let mut repeat = order().with_id("call-2");
    assert_eq!(ask(&repeat), Verdict::Answer(RESULT.into()));
    repeat.arguments = Payload::Text(r#"{ "to": "bob", "amount": 5 }"#.into());
    assert_eq!(ask(&repeat), Verdict::Answer(RESULT.into()), "the order of members does not count");
}

#[test]
fn calls_without_a_key_are_left_alone() {
    let host = TestHost::new();
    let unprotected = call("pay", "{}").with_meta("festi/other", "1");
    run(&unprotected, RESULT);
    assert_eq!(ask(&unprotected), Verdict::Proceed);
    assert_eq!(host.stored(""), []);
}

#[test]
fn n4_a_key_that_is_no_key_is_refused_rather_than_ignored() {
    let host = TestHost::new();
    for value in ["\"\"", "17", "null", "[\"order-17\"]"] {
        let refused = reason(ask(&call("pay", "{}").with_meta(META_KEY, value)));
        assert_eq!(refused, "`festi/idempotencyKey` in `_meta` must be a string that is not empty.");
    }
    let mut cut = call("pay", "{}");
    cut.meta_dropped = 1;
    assert!(reason(ask(&cut)).contains("larger than its bounds"));
    cut = cut.with_meta(META_KEY, "\"order-17\"");
    assert_eq!(ask(&cut), Verdict::Proceed);
    assert_eq!(host.stored("").len(), 1);
}

#[test]
fn other_arguments_under_the_same_key_are_refused() {
    let _host = TestHost::new();
    let mut other = order().with_id("call-2");
    other.arguments = Payload::Text(r#"{"amount":6,"to":"bob"}"#.into());
    assert_eq!(ask(&order()), Verdict::Proceed);
    assert!(reason(ask(&other)).contains("other arguments"), "while it runs");
    tell(&order(), Ending::Executed(Completion::Complete), Dispatch::Done, Some(RESULT));
    assert!(reason(ask(&other)).contains("other arguments"), "after it ran");
}

#[test]
fn callers_and_tools_do_not_meet() {
    let _host = TestHost::new();
    run(&order(), RESULT);
    let mut others = [order(), order(), order(), order()];
    others[0].caller = caller("bob", &["writer"]);
    others[1].caller.issuer = Some("https://issuer".into());
    others[2].caller.tenant = Some("acme".into());
    others[3].identifier = "refund".into();
    for other in others {
        assert_eq!(ask(&other), Verdict::Proceed, "{other:?}");
    }
    let mut promoted = order();
    promoted.caller.roles.push("admin".into());
    assert_eq!(ask(&promoted), Verdict::Answer(RESULT.into()), "roles are not who somebody is");
}

#[test]
fn a_repeat_while_it_runs_is_refused_and_leaves_no_trace() {
    let _host = TestHost::new();
    assert_eq!(ask(&order()), Verdict::Proceed);
    let duplicate = order().with_id("call-2");
    assert!(reason(ask(&duplicate)).contains("already running"));
    tell(&duplicate, Ending::Denied("idempotency-ledger".into()), Dispatch::None, Some(r#"{"isError":true}"#));
    assert!(reason(ask(&order().with_id("call-3"))).contains("already running"), "the claim still stands");

    tell(&order(), Ending::Executed(Completion::Complete), Dispatch::Done, Some(RESULT));
    tell(&duplicate, Ending::Answered("idempotency-ledger".into()), Dispatch::None, Some("{}"));
    assert_eq!(ask(&duplicate), Verdict::Answer(RESULT.into()));
}

#[test]
fn a_call_that_never_ran_can_be_retried() {
    let refusal = Some(r#"{"isError":true,"content":[]}"#);
    let endings = [
        (Ending::Denied("approval-gate".into()), Dispatch::None, refusal),
        (Ending::Answered("cache".into()), Dispatch::None, Some(RESULT)),
        (Ending::Withdrawn, Dispatch::None, None),
        (failed("listener"), Dispatch::None, None),
        (failed("cancelled"), Dispatch::None, None),
        (failed("upstream"), Dispatch::Done, None),
        (failed("tool"), Dispatch::Done, None),
    ];
    for (ending, dispatch, reply) in endings {
        let host = TestHost::new();
        assert_eq!(ask(&order()), Verdict::Proceed);
        tell(&order(), ending.clone(), dispatch, reply);
        assert_eq!(host.stored(STATE), [], "{ending:?}");
        assert_eq!(ask(&order().with_id("call-2")), Verdict::Proceed, "{ending:?}");
    }
}

#[test]
fn b7_a_call_that_may_have_run_is_not_repeated() {
    for kind in ["upstream", "deadline", "cancelled", "disconnected"] {
        let host = TestHost::new();
        assert_eq!(ask(&order()), Verdict::Proceed);
        tell(&order(), failed(kind), Dispatch::Unknown, None);
        host.pass(Duration::from_secs(365 * 24 * 3_600));
        assert_eq!(reason(ask(&order().with_id("call-2"))), UNKNOWN, "{kind}");
    }
}

#[test]
fn f5_a_claim_that_a_dead_host_left_behind_is_unknown() {
    let host = TestHost::new();
    assert_eq!(ask(&order()), Verdict::Proceed);
    host.pass(Duration::from_secs(365 * 24 * 3_600));
    let after_restart = order().with_id("call-2").with_host_run("run-2");
    assert_eq!(reason(ask(&after_restart)), UNKNOWN);
    tell(&after_restart, Ending::Denied("idempotency-ledger".into()), Dispatch::None, None);
    assert_eq!(reason(ask(&after_restart.with_id("call-3"))), UNKNOWN);
}

#[test]
fn e4_an_error_of_the_tool_has_executed() {
    let error = r#"{"content":[],"isError":true}"#;
    let _host = TestHost::new();
    run(&order(), error);
    assert_eq!(ask(&order()), Verdict::Answer(error.into()));

    let _host = TestHost::new().configure("store-errors", "false");
    run(&order(), error);
    run(&order().with_id("call-2"), RESULT);
    assert_eq!(ask(&order()), Verdict::Answer(RESULT.into()));
}

#[test]
fn f4_a_result_that_can_not_be_kept_is_not_produced_twice() {
    let _host = TestHost::new();
    assert_eq!(ask(&order()), Verdict::Proceed);
    let mut ended = report(order(), Ending::Executed(Completion::Complete), Dispatch::Done, None);
    ended.reply = Some(Payload::Oversize(Oversize { bytes: 9_000_000, digest: "ab".into() }));
    IdempotencyLedger::notify(ended).unwrap();
    assert_eq!(reason(ask(&order())), UNKEPT);

    let _host = TestHost::new();
    run(&order(), &format!("{{\"content\":[],\"x\":\"{}\"}}", "x".repeat(1_024 * 1_024)));
    assert_eq!(reason(ask(&order())), UNKEPT);
}

#[test]
fn f4_oversize_arguments_are_compared_by_digest() {
    let _host = TestHost::new();
    let oversize = |digest: &str| {
        let arguments = Payload::Oversize(Oversize { bytes: 9_000_000, digest: digest.into() });
        ToolCall { arguments, ..order() }
    };
    run(&oversize("ab"), RESULT);
    assert_eq!(ask(&oversize("ab")), Verdict::Answer(RESULT.into()));
    assert!(reason(ask(&oversize("cd"))).contains("other arguments"));
}

#[test]
fn w4_a_claim_waits_for_its_next_round_and_only_the_last_result_is_kept() {
    let _host = TestHost::new();
    assert_eq!(ask(&order()), Verdict::Proceed);
    let question = Some(r#"{"resultType":"input_required"}"#);
    tell(&order(), Ending::Executed(Completion::InputRequired), Dispatch::Done, question);

    let refused = order().with_id("call-2").continued();
    assert_eq!(ask(&refused), Verdict::Proceed);
    assert!(reason(ask(&order().with_id("call-3").continued())).contains("already running"));
    tell(&refused, Ending::Denied("another".into()), Dispatch::None, None);

    let mut other = order().with_id("call-4").continued();
    other.arguments = Payload::Text("{}".into());
    assert!(reason(ask(&other)).contains("other arguments"));

    let last = order().with_id("call-5").continued();
    run(&last, RESULT);
    assert!(reason(ask(&last)).contains("already ended"), "a continuation is never answered from the store");
    assert_eq!(ask(&order().with_id("call-6")), Verdict::Answer(RESULT.into()));
}

#[test]
fn a_task_goes_on_and_is_not_begun_twice() {
    let _host = TestHost::new();
    assert_eq!(ask(&order()), Verdict::Proceed);
    tell(&order(), Ending::Executed(Completion::Task), Dispatch::Done, Some("{}"));
    assert_eq!(reason(ask(&order())), UNKEPT);
}

#[test]
fn results_expire() {
    let host = TestHost::new().configure("keep-hours", "2");
    run(&order(), RESULT);
    host.pass(Duration::from_secs(2 * 3_600 - 1));
    assert_eq!(ask(&order()), Verdict::Answer(RESULT.into()));
    host.pass(Duration::from_secs(1));
    assert_eq!(ask(&order()), Verdict::Proceed);
}

#[test]
fn f1_a_configuration_that_does_not_fit_fails_before_anything_runs() {
    for hours in ["0", "1001", "\"day\""] {
        let _host = TestHost::new().configure("keep-hours", hours);
        assert!(IdempotencyLedger::decide(order(), row("pay")).is_err());
    }
}
