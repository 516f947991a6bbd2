//! {every guest} × {grant, before-call, after-call} × {a listing, calls}: what the caller gets, whether the tool ran, how often
//! the end was told, whether the two listeners beside the guest did their work, and what the record of a failure says.

use callgate_core::dispatcher::Reading;
use callgate_tests::records::Records;
use callgate_wasm::Hook;
use serde_json::Value;

use super::guests::{self, Ends, Guest};
use super::rig::{Asked, Rig};
use super::{INTERNAL, NOT_VERIFIED};

const HIDDEN: &str = "Error: Unknown tool 'not-for-last'.";
const RAN: &str = r#"{ "content":[{"text":"run 1","type":"text"}],"future": 1.50e1}"#;
const RAN_AGAIN: &str = r#"{ "content":[{"text":"run 2","type":"text"}],"future": 1.50e1}"#;
const DENIED_BY_LAST: &str = r#"{"content":[{"type":"text","text":"not with arguments"}],"isError":true}"#;

/// What has to come of a listing and of three calls: one that nobody has anything against but maybe the guest, one that the
/// last listener denies, and one to a tool that the last listener hides.
struct Expected {
    degraded: bool,
    plain: Answer,
    denied: Answer,
    hidden: Answer,
}

/// What a caller gets, and what the after-call listeners are told: nothing where no call began.
struct Answer {
    gets: String,
    told: Option<String>,
}

impl Expected {
    fn of(hook: Hook, ends: Ends) -> Self {
        let undecided = || Answer::told(NOT_VERIFIED, "failed by bad: first narrow, bad failed, last narrow");
        let (abstains, said) = match (hook, ends) {
            (Hook::Grant, Ends::Fails(..)) => {
                return Self { degraded: true, plain: undecided(), denied: undecided(), hidden: undecided() };
            }
            (Hook::Grant, _) => (", bad abstain", ""),
            (Hook::BeforeCall, Ends::Passes) => ("", ", bad proceed"),
            (Hook::BeforeCall, Ends::Denies(_)) => ("", ", bad deny"),
            (Hook::BeforeCall, Ends::Answers(_)) => ("", ", bad answer"),
            (Hook::BeforeCall, Ends::Fails(..)) => ("", ", bad failed"),
            (Hook::AfterCall, _) => ("", ""),
        };
        let answer = |gets: &str, ending: &str, last: &str| {
            let steps = format!("first narrow{abstains}, last narrow, first proceed{said}, last {last}");
            Answer::told(gets, &format!("{ending}: {steps}"))
        };
        let (plain, denied) = match (hook, ends) {
            (Hook::BeforeCall, Ends::Fails(..)) => ((INTERNAL, "failed by bad"), (INTERNAL, "failed by bad")),
            (Hook::BeforeCall, Ends::Denies(reason)) => {
                let gets = format!(r#"{{"content":[{{"type":"text","text":"{reason}"}}],"isError":true}}"#);
                let plain = answer(&gets, "denied by bad", "proceed");
                let denied = answer(&gets, "denied by bad", "deny");
                return Self { degraded: false, plain, denied, hidden: Answer::unheard(HIDDEN) };
            }
            (Hook::BeforeCall, Ends::Answers(result)) => {
                ((result, "answered by bad"), (DENIED_BY_LAST, "denied by last"))
            }
            _ => ((RAN, "executed"), (DENIED_BY_LAST, "denied by last")),
        };
        let (plain, denied) = (answer(plain.0, plain.1, "proceed"), answer(denied.0, denied.1, "deny"));
        Self { degraded: false, plain, denied, hidden: Answer::unheard(HIDDEN) }
    }

    fn answers(&self) -> [&Answer; 3] {
        [&self.plain, &self.denied, &self.hidden]
    }
}

impl Answer {
    fn told(gets: &str, told: &str) -> Self {
        Self { gets: gets.into(), told: Some(told.into()) }
    }

    fn unheard(gets: &str) -> Self {
        Self { gets: gets.into(), told: None }
    }
}

async fn one_cell(guest: &Guest, hook: Hook) {
    let (cell, ends) = (format!("{} as {hook}", guest.name), guest.ends(hook));
    let records = Records::of_this_thread();
    let rig = Rig::beside(guest, hook).await;
    let expected = Expected::of(hook, ends);

    let listing = rig.list().await;
    let names: Vec<_> = listing.tools.iter().map(|tool| tool.row.identifier.as_str()).collect();
    assert_eq!(names, ["record"], "{cell}");
    assert_eq!(listing.reading == Reading::Degraded, expected.degraded, "{cell}");
    assert_eq!(rig.last_asked().await, Asked { grant: 1, before_call: 0, after_call: 0 }, "{cell}: nobody called yet");

    assert_eq!(rig.call("record", "{}").await, expected.plain.gets, "{cell}");
    assert_eq!(rig.call("record", r#"{"n":1}"#).await, expected.denied.gets, "{cell}");
    assert_eq!(rig.call("not-for-last", "{}").await, expected.hidden.gets, "{cell}");

    let runs = u64::from(expected.plain.gets == RAN);
    assert_eq!(rig.runs(), runs, "{cell}");
    let told: Vec<_> = expected.answers().into_iter().filter_map(|answer| answer.told.clone()).collect();
    assert_eq!(rig.told(), told, "{cell}");
    let heard = told.len() as u64;
    let before_call = if expected.degraded { 0 } else { heard };
    let asked = Asked { grant: 4, before_call, after_call: heard };
    assert_eq!(rig.first_asked(), asked, "{cell}");
    assert_eq!(rig.last_asked().await, asked, "{cell}");
    assert_eq!(rig.dispatcher.counters().calls, heard, "{cell}");

    if let Ends::Fails(kind, says) = ends {
        let failures = match hook {
            Hook::Grant => asked.grant,
            Hook::BeforeCall => asked.before_call,
            Hook::AfterCall => asked.after_call,
        };
        assert_eq!(rig.failures(), failures, "{cell}");
        let records = records.take("a listener failed");
        assert_eq!(records.len() as u64, failures, "{cell}: {records:?}");
        records.iter().for_each(|record| assert_record(&cell, record, &rig.digest, hook, kind, says));
    } else {
        assert_eq!(rig.failures(), 0, "{cell}: {:?}", records.take("a listener failed"));
    }

    rig.without_the_guest().await;
    assert_eq!(rig.list().await.reading, Reading::Complete, "{cell}");
    assert_eq!(rig.call("record", "{}").await, if runs == 0 { RAN } else { RAN_AGAIN }, "{cell}");
}

/// A record names listener, component, hook and kind, and what the guest wrote is on one line without anything that a terminal
/// would take for a command.
fn assert_record(cell: &str, record: &Value, digest: &str, hook: Hook, kind: &str, says: &[&str]) {
    assert_eq!(record["listener"], "bad", "{cell}: {record}");
    assert_eq!(record["digest"], digest, "{cell}: {record}");
    assert_eq!(record["hook"], hook.to_string(), "{cell}: {record}");
    assert_eq!(record["kind"], kind, "{cell}: {record}");
    let failure = record["failure"].as_str().unwrap();
    for part in says {
        assert!(failure.contains(part), "{cell}: `{part}` is not in {failure:?}");
    }
    let unfit = |character: char| character.is_control() || ('\u{202a}'..='\u{202e}').contains(&character);
    assert!(!failure.contains(unfit), "{cell}: {failure:?}");
}

async fn every_cell(hook: Hook) {
    for guest in guests::all() {
        one_cell(&guest, hook).await;
    }
}

#[tokio::test]
async fn g5_g6_f1_f2_a1_every_guest_as_a_grant_listener() {
    every_cell(Hook::Grant).await;
}

#[tokio::test]
async fn b3_b5_b6_f1_f2_a1_every_guest_as_a_before_call_listener() {
    every_cell(Hook::BeforeCall).await;
}

#[tokio::test]
async fn a3_f1_f2_a1_every_guest_as_an_after_call_listener() {
    every_cell(Hook::AfterCall).await;
}
