use std::time::Duration;

use callgate_guest::state::Keep;
use callgate_guest::testing::{TestHost, call, caller, report, row};

use super::*;

const ARGUMENTS: &str = r#"{"path":"/etc/motd","text":"hi"}"#;

fn ask(call: &ToolCall) -> Verdict {
    ApprovalGate::decide(call.clone(), row(&call.identifier)).unwrap()
}

fn tell(call: &ToolCall, ending: Ending, dispatch: Dispatch) {
    ApprovalGate::notify(report(call.clone(), ending, dispatch, None)).unwrap();
}

fn executed() -> Ending {
    Ending::Executed(Completion::Complete)
}

/// What `callgate approve` does.
fn approve(host: &TestHost) {
    for (key, text) in host.stored(ticket::PREFIX) {
        let approved = text.replace(r#""state":"pending""#, r#""state":"approved""#);
        assert_ne!(approved, text);
        assert!(state::replace(&key, &text, &approved, Keep::For(Duration::from_secs(3_600))).unwrap());
    }
}

#[test]
fn an_unapproved_call_is_told_its_ticket() {
    let host = TestHost::new();
    let Verdict::Deny(denial) = ask(&call("files__write", ARGUMENTS)) else { panic!("not denied") };
    let [(key, record)] = &host.stored(ticket::PREFIX)[..] else { panic!("one ticket") };
    let ticket = key.strip_prefix("approval/").unwrap();
    assert_eq!(ticket.len(), 12);
    assert!(denial.reason.contains(&format!("`callgate approve {ticket}`")), "{}", denial.reason);

    let record: serde_json::Value = serde_json::from_str(record).unwrap();
    assert_eq!(record["state"], "pending");
    assert_eq!(record["tool"], "files__write");
    assert_eq!(record["subject"], "ada");
    assert_eq!(record["arguments"], ARGUMENTS);
    assert_eq!(record["arguments-digest"].as_str().unwrap().len(), 64);
}

#[test]
fn an_approval_is_good_for_one_run_of_exactly_that_call() {
    let host = TestHost::new();
    let wanted = call("files__write", ARGUMENTS);
    assert!(matches!(ask(&wanted), Verdict::Deny(_)));
    approve(&host);

    let other_arguments = call("files__write", r#"{"path":"/etc/passwd","text":"hi"}"#);
    let other_caller = wanted.clone().with_caller(caller("bob", &["writer"]));
    let mut other_definition = row("files__write");
    other_definition.definition_digest = "d2".into();
    assert!(matches!(ask(&other_arguments), Verdict::Deny(_)));
    assert!(matches!(ask(&other_caller), Verdict::Deny(_)));
    assert!(matches!(ApprovalGate::decide(wanted.clone(), other_definition), Ok(Verdict::Deny(_))));

    let spelled_differently = call("files__write", r#"{ "text": "hi", "path": "/etc/motd" }"#).with_id("call-2");
    assert_eq!(ask(&spelled_differently), Verdict::Proceed);
    assert!(matches!(ask(&wanted), Verdict::Deny(_)), "while the approved call runs");
    tell(&wanted, Ending::Denied("approval-gate".into()), Dispatch::None);
    tell(&spelled_differently, executed(), Dispatch::Done);
    assert!(matches!(ask(&wanted), Verdict::Deny(_)), "after it ran");
}

#[test]
fn a_call_that_never_reached_its_tool_gives_the_approval_back() {
    let host = TestHost::new();
    let wanted = call("files__write", ARGUMENTS);
    ask(&wanted);
    approve(&host);
    assert_eq!(ask(&wanted), Verdict::Proceed);
    tell(&wanted, Ending::Denied("another".into()), Dispatch::None);
    assert_eq!(ask(&wanted.clone().with_id("call-2")), Verdict::Proceed);
}

#[test]
fn b7_a_call_that_may_have_run_has_spent_its_approval() {
    for dispatch in [Dispatch::Unknown, Dispatch::Done] {
        let host = TestHost::new();
        let wanted = call("files__write", ARGUMENTS);
        ask(&wanted);
        approve(&host);
        assert_eq!(ask(&wanted), Verdict::Proceed);
        tell(&wanted, Ending::Withdrawn, dispatch);
        assert!(matches!(ask(&wanted), Verdict::Deny(_)));
    }
}

#[test]
fn an_approval_that_a_dead_host_left_taken_is_spent() {
    let host = TestHost::new();
    let wanted = call("files__write", ARGUMENTS);
    ask(&wanted);
    approve(&host);
    assert_eq!(ask(&wanted), Verdict::Proceed);
    let after_restart = wanted.with_host_run("run-2");
    assert!(matches!(ask(&after_restart), Verdict::Deny(_)));
    approve(&host);
    assert_eq!(ask(&after_restart), Verdict::Proceed);
}

#[test]
fn w4_an_approval_lasts_for_all_rounds_of_its_call() {
    let host = TestHost::new();
    let wanted = call("files__write", ARGUMENTS);
    ask(&wanted);
    approve(&host);
    assert_eq!(ask(&wanted), Verdict::Proceed);
    tell(&wanted, Ending::Executed(Completion::InputRequired), Dispatch::Done);

    let next_round = wanted.clone().with_id("call-2").continued();
    assert_eq!(ask(&next_round), Verdict::Proceed);
    tell(&next_round, executed(), Dispatch::Done);
    assert!(matches!(ask(&next_round), Verdict::Deny(_)));
}

#[test]
fn w4_a_first_round_can_not_use_what_is_left_for_a_continuation() {
    let host = TestHost::new();
    let wanted = call("files__write", ARGUMENTS);
    ask(&wanted);
    approve(&host);
    assert_eq!(ask(&wanted), Verdict::Proceed);
    tell(&wanted, Ending::Executed(Completion::InputRequired), Dispatch::Done);
    assert!(matches!(ask(&wanted.with_id("call-2")), Verdict::Deny(_)));
}

#[test]
fn requests_and_approvals_expire() {
    let host = TestHost::new();
    let wanted = call("files__write", ARGUMENTS);
    ask(&wanted);
    approve(&host);
    host.pass(Duration::from_secs(2 * 3_600));
    assert!(matches!(ask(&wanted), Verdict::Deny(_)));

    // Also where whoever approved it asked the store to keep it for good.
    let host = TestHost::new().configure("minutes", "0");
    let Verdict::Deny(_) = ask(&wanted) else { panic!("not denied") };
    let expired = Ticket::request(&wanted, &row("files__write"), 0).at(Stage::Approved).to_json().unwrap();
    state::set(&ticket::key(&wanted, &row("files__write")), &expired, Keep::Forever).unwrap();
    assert!(matches!(ask(&wanted), Verdict::Deny(_)));
    assert!(host.stored(ticket::PREFIX)[0].1.contains("pending"));
}

#[test]
fn tickets_of_twelve_digits_may_collide_and_approve_nothing_else() {
    let _host = TestHost::new();
    let (wanted, row) = (call("files__write", ARGUMENTS), row("files__write"));
    let another = Ticket::request(&call("files__write", "{}"), &row, 60).at(Stage::Approved).to_json().unwrap();
    state::set(&ticket::key(&wanted, &row), &another, Keep::Forever).unwrap();
    assert!(matches!(ask(&wanted), Verdict::Deny(_)));
}

#[test]
fn only_the_configured_tools_need_approval() {
    let host = TestHost::new().configure("tools", r#"["files__write*"]"#);
    assert_eq!(ask(&call("files__read", "{}")), Verdict::Proceed);
    assert!(matches!(ask(&call("files__write_all", "{}")), Verdict::Deny(_)));
    assert_eq!(host.stored("").len(), 1);
}
