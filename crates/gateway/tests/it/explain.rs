//! `callgate explain`.

use crate::rig::{Rig, listener, upstream};

fn rig() -> Rig {
    let mode = "config.roles = { operator = ['*'], reader = ['list_*'] }";
    Rig::new(&format!(
        "listeners = ['agent-mode', 'first', 'second']\n[caller.ada]\nroles = ['operator']\n[caller.bob]\nroles = ['reader']\n\
         [permissions.demo]\n'demo/delete_reward' = ['operator']\n{}[upstream.demo.tool.fetch_url]\ngeneric = true\n{}{}{}",
        upstream("demo", ""),
        listener("agent-mode", "agent_mode", mode),
        listener(
            "first",
            "puppet",
            "hooks = ['before-call']\nconfig.tools = ['add_reward']\nconfig.before-call.deny = 'not today'"
        ),
        listener(
            "second",
            "puppet",
            "hooks = ['before-call', 'after-call']\nconfig.tools = ['delete_reward']\nconfig.before-call = 'trap'"
        ),
    ))
}

#[track_caller]
fn explained(rig: &Rig, caller: &[&str], tool: &str, lines: &[&str]) {
    let said = rig.run(&[&["explain", "--tool", tool, "--as"], caller].concat()).said();
    for line in lines {
        assert!(said.contains(line), "{line}\nis not in\n{said}");
    }
}

#[test]
fn each_reason_for_and_against_a_call_is_said() {
    let rig = rig();
    explained(
        &rig,
        &["ada"],
        "list_rewards",
        &[
            "Caller 'ada' with roles operator calls 'list_rewards'.",
            "The tool is method 'demo/list_rewards' in section 'demo'",
            "Roles: permitted, because no permission names the method and such tools are shown to all.",
            "Access: granted.",
            "1. agent-mode grant: narrows what the caller may use",
            "2. first before-call: lets the call proceed",
            "3. second before-call: lets the call proceed",
            "second would be told how the call ended.",
            "Outcome: the tool runs.",
        ],
    );
    explained(
        &rig,
        &["ada"],
        "add_reward",
        &[
            "2. first before-call: denies the call",
            "3. second before-call: lets the call proceed",
            "Outcome: 'first' denies: not today",
        ],
    );
    explained(
        &rig,
        &["ada"],
        "delete_reward",
        &[
            "Roles: permitted, because the section permits the method to a role of the caller.",
            "3. second before-call: fails (trapped",
            "Outcome: Error: An internal error occurred while executing the tool.",
        ],
    );
    explained(
        &rig,
        &["bob"],
        "delete_reward",
        &[
            "Roles: withheld, because the section permits the method to no role of the caller.",
            "Outcome: Error: Unknown tool 'delete_reward'.",
        ],
    );
    explained(
        &rig,
        &["bob"],
        "add_reward",
        &["Access: withheld, left out by listener 'agent-mode'.", "Outcome: Error: Unknown tool 'add_reward'."],
    );
    explained(
        &rig,
        &["ada"],
        "fetch_url",
        &["Roles: withheld, because the tool is generic and no permission names its method."],
    );
    explained(&rig, &["ada"], "nix", &["There is no such tool among 4.", "Outcome: Error: Unknown tool 'nix'."]);
}

#[test]
fn roles_can_be_tried_out() {
    let rig = rig();
    explained(&rig, &["bob", "--role", "operator"], "list_rewards", &["Caller 'bob' with roles operator"]);
    explained(&rig, &["eve", "--role", "x", "--role", "reader"], "list_rewards", &["roles x, reader", "the tool runs"]);
    let complaint = rig.run(&["explain", "--as", "eve", "--tool", "t"]).refused();
    assert_eq!(complaint, "callgate: callgate.toml: there is no [caller.eve]: give its roles with --role\n");
}

#[test]
fn arguments_that_are_no_object_are_refused() {
    let complaint = rig().run(&["explain", "--as", "ada", "--tool", "t", "--arguments", "[1]"]).refused();
    assert_eq!(complaint, "callgate: --arguments is no JSON object\n");
}
