use std::time::Duration;

use callgate_guest::testing::{TestHost, call, report};
use callgate_guest::{Completion, Dispatch, Ending, Failure, Oversize, Payload, Step};
use serde_json::{Value, json};

use super::*;

const ARGUMENTS: &str = r#"{"password":"hunter2","amount":9007199254740993}"#;

fn notify(ending: Ending, dispatch: Dispatch, reply: Option<&str>) {
    AuditTrail::notify(report(call("pay", ARGUMENTS), ending, dispatch, reply)).unwrap();
}

fn records(host: &TestHost) -> Vec<Value> {
    host.stored("record/").iter().map(|(_, text)| serde_json::from_str(text).unwrap()).collect()
}

#[test]
fn a1_every_ending_leaves_one_record() {
    let failed = |kind: &str, listener: Option<&str>| {
        Ending::Failed(Failure { kind: kind.into(), listener: listener.map(str::to_owned), detail: "why".into() })
    };
    let host = TestHost::new();
    notify(Ending::Executed(Completion::Complete), Dispatch::Done, Some(r#"{"content":[]}"#));
    notify(Ending::Executed(Completion::Complete), Dispatch::Done, Some(r#"{"isError":true}"#));
    notify(Ending::Executed(Completion::InputRequired), Dispatch::Done, Some("{}"));
    notify(Ending::Executed(Completion::Task), Dispatch::Done, Some("{}"));
    notify(Ending::Answered("ledger".into()), Dispatch::None, Some("{}"));
    notify(Ending::Denied("gate".into()), Dispatch::None, Some(r#"{"isError":true}"#));
    notify(Ending::Withdrawn, Dispatch::None, None);
    notify(failed("upstream", None), Dispatch::Unknown, None);
    notify(failed("listener", Some("gate")), Dispatch::None, None);

    let seen: Vec<_> = records(&host)
        .iter()
        .map(|it| json!([it["sequence"], it["ending"], it["by"], it["failure"], it["is-error"], it["dispatch"]]))
        .collect();
    assert_eq!(
        seen,
        [
            json!([1, "executed", null, null, false, "done"]),
            json!([2, "executed", null, null, true, "done"]),
            json!([3, "input-required", null, null, false, "done"]),
            json!([4, "task", null, null, false, "done"]),
            json!([5, "answered", "ledger", null, false, "none"]),
            json!([6, "denied", "gate", null, true, "none"]),
            json!([7, "withdrawn", null, null, null, "none"]),
            json!([8, "failed", null, "upstream", null, "unknown"]),
            json!([9, "failed", "gate", "listener", null, "none"]),
        ]
    );
}

#[test]
fn a2_a_record_says_who_called_what_and_what_was_said_about_it() {
    let host = TestHost::new();
    let mut ended = report(call("pay", ARGUMENTS), Ending::Denied("gate".into()), Dispatch::None, Some("{}"));
    ended.steps.push(Step {
        listener: "gate".into(),
        digest: "ab12".into(),
        said: "deny".into(),
        private_reason: Some("rule 7".into()),
        micros: 120,
    });
    AuditTrail::notify(ended).unwrap();
    let record = &records(&host)[0];
    assert_eq!(record["call"], "call-1");
    assert_eq!(record["subject"], "ada");
    assert_eq!((&record["tool"], &record["method"]), (&json!("pay"), &json!("files/pay")));
    assert_eq!(record["duration-ms"], 1.5);
    let step =
        json!({ "listener": "gate", "digest": "ab12", "said": "deny", "private-reason": "rule 7", "micros": 120 });
    assert_eq!(record["steps"], json!([step]));
    assert!(record["time-ms"].as_u64().unwrap() > 1_700_000_000_000);
}

#[test]
fn g5_a_call_that_could_not_be_decided_has_no_method() {
    let host = TestHost::new();
    let failure = Failure { kind: "gate".into(), listener: Some("mode".into()), detail: "trapped".into() };
    let mut undecided = report(call("nothing", "{}"), Ending::Failed(failure), Dispatch::None, None);
    undecided.row = None;
    AuditTrail::notify(undecided).unwrap();
    let record = &records(&host)[0];
    assert_eq!((&record["tool"], &record["method"], &record["by"]), (&json!("nothing"), &Value::Null, &json!("mode")));
}

#[test]
fn arguments_are_kept_as_a_digest_unless_it_is_configured() {
    let host = TestHost::new();
    notify(Ending::Withdrawn, Dispatch::None, None);
    let (_, text) = &host.stored("record/")[0];
    assert!(!text.contains("hunter2"), "{text}");
    assert_eq!(records(&host)[0]["arguments-digest"].as_str().unwrap().len(), 64);

    let host = TestHost::new().configure("arguments", "\"full\"");
    notify(Ending::Withdrawn, Dispatch::None, None);
    let (_, text) = &host.stored("record/")[0];
    assert!(text.contains(&format!("\"arguments\":{ARGUMENTS}")), "{text}");
}

#[test]
fn f4_arguments_that_are_too_large_to_keep_leave_their_digest() {
    let host = TestHost::new().configure("arguments", "\"full\"");
    let large = format!("{{\"x\":\"{}\"}}", "x".repeat(1_024 * 1_024));
    AuditTrail::notify(report(call("pay", &large), Ending::Withdrawn, Dispatch::None, None)).unwrap();
    let mut oversize = call("pay", "{}");
    oversize.arguments = Payload::Oversize(Oversize { bytes: 9_000_000, digest: "ab12".into() });
    AuditTrail::notify(report(oversize, Ending::Withdrawn, Dispatch::None, None)).unwrap();
    let records = records(&host);
    assert_eq!((records.len(), records[0].get("arguments"), records[1].get("arguments")), (2, None, None));
    assert_eq!(records[1]["arguments-digest"], "ab12");
}

#[test]
fn records_stay_unless_it_is_configured() {
    let year = Duration::from_secs(365 * 24 * 3_600);
    let host = TestHost::new();
    notify(Ending::Withdrawn, Dispatch::None, None);
    host.pass(year);
    assert_eq!(host.stored("record/").len(), 1);

    let host = TestHost::new().configure("keep-hours", "1");
    notify(Ending::Withdrawn, Dispatch::None, None);
    host.pass(Duration::from_secs(3_600));
    notify(Ending::Withdrawn, Dispatch::None, None);
    assert_eq!(host.stored("record/").iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["record/0000000002"]);
}
