//! `callgate demo`: what it promises to show is shown. It checks what it tells by itself, and fails where that went
//! otherwise.

use crate::rig::{PROGRAM, Rig, component};

const STORY: [&str; 11] = [
    "ada | (operator) sees list_rewards, add_reward, delete_reward",
    "bob | (reader) sees list_rewards\n",
    "Error: Unknown tool 'delete_reward'.",
    "Error: Unknown tool 'no_such_tool'.",
    "both errors are the same bytes",
    "add_reward ran 1 time(s)",
    "Approved: 'ada' may call 'delete_reward' with {\"idReward\":1}.",
    "Deleted reward 1: Cinema ticket.",
    "Error: Tool access could not be verified.",
    "2 | ada called add_reward: answered by idempotency-ledger; tool reached: none",
    "7 | ada called add_reward: failed at broken-gate; tool reached: none",
];

#[test]
fn the_demonstration_shows_a_governed_session() {
    let guests = component("puppet").parent().unwrap().display().to_string();
    let said = Rig::new("").run(&["demo", "--components", &guests]).said();
    for line in STORY {
        assert!(said.contains(line), "{line}\nis not in\n{said}");
    }
}

#[test]
fn it_governs_any_server() {
    let guests = component("puppet").parent().unwrap().display().to_string();
    let upstream = format!("'{PROGRAM}' demo-server");
    let said = Rig::new("").run(&["demo", "--components", &guests, "--upstream", &upstream]).said();
    assert!(said.contains("Approved: 'ada' may call 'add_reward' with {\"title\":\"callgate\"}."), "{said}");
    assert!(said.contains("both errors are the same bytes"), "{said}");
}

#[test]
fn missing_components_and_broken_commands_are_named() {
    let complaint = Rig::new("").run(&["demo"]).refused();
    assert!(complaint.contains("agent_mode.wasm: build the examples first"), "{complaint}");
    let complaint = Rig::new("").run(&["demo", "--upstream", "'x"]).refused();
    assert_eq!(complaint, "callgate: --upstream: a quote is not closed\n");
}
