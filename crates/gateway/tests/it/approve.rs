//! `callgate approve` and `callgate state`, beside a process that serves from the same file.

use callgate::sqlite_state::SqliteState;
use callgate_core::StateStore;

use crate::rig::{Rig, call, listener, upstream};

fn rig() -> Rig {
    let gate = listener("gate", "approval_gate", "capabilities = ['state', 'clocks']\nconfig.tools = ['add_reward']");
    let trail = listener("trail", "audit_trail", "capabilities = ['state', 'clocks']");
    Rig::new(&format!("listeners = ['gate', 'trail']\n[caller.ada]\n{}{gate}{trail}", upstream("demo", "")))
}

fn ticket(denial: &str) -> &str {
    let (_, after) = denial.split_once("callgate approve ").unwrap_or_else(|| panic!("no ticket in {denial}"));
    after.split('`').next().unwrap()
}

const WANTED: &str = r#"{"title":"Cinema"}"#;

#[tokio::test]
async fn a_denied_call_runs_once_an_operator_approved_exactly_that_call() {
    let rig = rig();
    assert_eq!(rig.run(&["approve"]).said(), "No call waits for an approval.\n");
    let ada = rig.session("ada").await;
    let denial = call(&ada, "add_reward", WANTED).await;
    let ticket = ticket(&denial);
    assert!(denial.contains(r#""isError":true"#), "{denial}");

    let waiting = rig.run(&["approve"]).said();
    assert_eq!(waiting, format!("{ticket}  'ada' may call 'add_reward' with {WANTED}, for 59 min\n"));
    let approved = rig.run(&["approve", ticket]).said();
    assert!(approved.starts_with(&format!("Approved: 'ada' may call 'add_reward' with {WANTED}.\n")), "{approved}");
    assert_eq!(rig.run(&["approve"]).said(), "No call waits for an approval.\n");

    // Looking at what would happen does not use the approval up.
    for _ in 0..2 {
        let said = rig.run(&["explain", "--as", "ada", "--tool", "add_reward", "--arguments", WANTED]).said();
        assert!(said.contains("\nOutcome: the tool runs.\n"), "{said}");
    }
    let other = call(&ada, "add_reward", r#"{"title":"Theatre"}"#).await;
    assert!(other.contains("needs an operator's approval"), "{other}");
    let ran = call(&ada, "add_reward", WANTED).await;
    assert!(ran.contains("Added reward 1: Cinema."), "{ran}");
    let again = call(&ada, "add_reward", WANTED).await;
    assert!(again.contains("needs an operator's approval"), "{again}");
    ada.close().await;
}

#[tokio::test]
async fn a_ticket_that_can_not_be_approved_is_refused_with_the_reason() {
    let rig = rig();
    let ada = rig.session("ada").await;
    let denial = call(&ada, "add_reward", WANTED).await;
    let ticket = ticket(&denial);
    let refused = |arguments: &[&str]| rig.run(arguments).refused();
    let unknown = "there is no ticket 000000000000: it has expired, was used up, or is kept in another state store";
    assert_eq!(refused(&["approve", "000000000000"]), format!("callgate: {unknown}\n"));
    assert!(refused(&["approve", ticket, "--listener", "trail"]).contains("there is no ticket"));
    assert!(refused(&["approve", "--listener", "nobody"]).contains("there is no listener 'nobody'"));
    rig.run(&["approve", ticket, "--listener", "gate"]).said();
    let twice = format!("callgate: ticket {ticket} of listener 'gate' does not wait for an approval: it is approved\n");
    assert_eq!(refused(&["approve", ticket]), twice);
    ada.close().await;
}

#[tokio::test]
async fn what_a_caller_sends_can_not_act_on_the_operators_terminal() {
    let rig = rig();
    let ada = rig.session("ada").await;
    call(&ada, "add_reward", "{\"title\":\"a\u{9b}2K\u{202e}b\"}").await;
    let waiting = rig.run(&["approve"]).said();
    assert!(waiting.contains(r"a\u{9b}2K\u{202e}b"), "{waiting}");
    ada.close().await;
}

#[test]
fn state_in_memory_is_out_of_reach() {
    let rig = Rig::new("listeners = []\n[state]\nmemory = true\n");
    let complaint = rig.run(&["approve", "000000000000"]).refused();
    assert!(complaint.contains("keeps state in the memory of the serving process"), "{complaint}");
}

#[tokio::test]
async fn operators_see_and_remove_what_listeners_keep() {
    let rig = rig();
    let ada = rig.session("ada").await;
    call(&ada, "list_rewards", "{}").await;
    call(&ada, "no_such_tool", "{}").await;
    let records = rig.run(&["state", "list", "--listener", "trail", "--prefix", "record/"]).said();
    let [record] = records.lines().collect::<Vec<_>>()[..] else { panic!("one call was decided: {records}") };
    assert!(record.starts_with("record/0000000001: {"), "{record}");
    let value = rig.run(&["state", "get", "--listener", "trail", "record/0000000001"]).said();
    let value: serde_json::Value = serde_json::from_str(&value).unwrap();
    assert_eq!((&value["subject"], &value["ending"]), (&"ada".into(), &"executed".into()));

    // This process has the file open as well, as the one that serves does.
    let store = SqliteState::open(&rig.path("callgate-state.sqlite")).unwrap();
    let removed = rig.run(&["state", "delete", "--listener", "trail", "record/0000000001"]).said();
    assert_eq!(removed, "Removed 'record/0000000001' of listener 'trail'.\n");
    assert_eq!(store.get("trail", "record/0000000001").await, Ok(None));
    let complaint = rig.run(&["state", "delete", "--listener", "trail", "record/0000000001"]).refused();
    assert_eq!(complaint, "callgate: listener 'trail' keeps nothing under 'record/0000000001'\n");
    call(&ada, "list_rewards", "{}").await;
    assert!(store.get("trail", "record/0000000002").await.unwrap().is_some());
    ada.close().await;
}
