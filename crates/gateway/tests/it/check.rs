//! `callgate check`.

use crate::rig::{Rig, listener, upstream};

fn configuration() -> String {
    let people = "[caller.ada]\nroles = ['operator']\n[caller.bob]\nroles = ['reader']\n[stdio]\ncaller = 'ada'\n\
                  [permissions.demo]\n'demo/fetch_url' = ['operator']\n'demo/delete_reward' = ['operator']\n";
    let mode = "config.roles = { operator = ['list_*', 'delete_*'], reader = ['*'] }\nconfig.generic = { operator = ['fetch_url'] }";
    format!(
        "listeners = ['agent-mode', 'approval-gate', 'audit-trail']\n{people}{}[upstream.demo.tool.fetch_url]\ngeneric = true\n{}{}{}",
        upstream("demo", ""),
        listener("agent-mode", "agent_mode", mode),
        listener("approval-gate", "approval_gate", "capabilities = ['state', 'clocks']"),
        listener("audit-trail", "audit_trail", "capabilities = ['state', 'clocks']\ndelivery = 'behind-reply'")
    )
}

/// The words without what differs from machine to machine.
fn steady(words: &str, rig: &Rig) -> String {
    let folder = crate::rig::component("puppet").parent().unwrap().display().to_string();
    let words = words.replace(&rig.path("").display().to_string(), "").replace(&folder, "GUESTS");
    let digest = |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lines = words.lines().map(|line| {
        let words: Vec<_> = line.split(' ').map(|word| if digest(word) { "DIGEST" } else { word }).collect();
        words.join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_would_happen_is_said_in_sentences() {
    let rig = Rig::new(&configuration());
    let said = rig.run(&["check"]).said();
    insta::assert_snapshot!("check", steady(&said, &rig));
    assert!(!rig.path("callgate-state.sqlite").exists(), "a check leaves nothing behind");
}

/// What is not forbidden and probably not meant, each with its line.
#[test]
fn what_is_probably_not_meant_is_warned_of() {
    let text = format!(
        "listeners = ['gate', 'ledger']\n[caller.ada]\n[permissions.demo]\n'demo/fetch' = []\n[permissions.other]\n\
         'demo/add_reward' = ['x']\n{}[upstream.demo.tool.nix]\n{}{}",
        upstream("demo", ""),
        listener("gate", "approval_gate", "capabilities = ['state', 'clocks']\nhooks = ['before-call']"),
        listener("ledger", "idempotency_ledger", "")
    );
    let said = Rig::new(&text).run(&["check"]).said();
    for warning in [
        "callgate.toml:4: warning: no server lists a tool for 'demo/fetch'",
        "callgate.toml:6: warning: 'demo/add_reward' is in section 'demo', so section 'other' permits nothing",
        "callgate.toml:12: warning: upstream 'demo' lists no tool 'nix'",
        "callgate.toml:14: warning: listener 'gate' is never asked its after-call: `hooks` leaves it out",
        "warning: listener 'ledger' imports callgate:host/state@0.1.0, which answers with an error",
        "callgate.toml: warning: nobody is signed in to the stdio session",
        "callgate.toml:6: warning: no caller of this file has a role of x",
        "callgate.toml: nothing keeps it from being served; 7 warnings.",
    ] {
        assert!(said.contains(warning), "{warning}\nis not in\n{said}");
    }
}

#[test]
fn what_is_granted_is_said_and_what_is_granted_in_vain_is_warned_of() {
    let grants = "capabilities = ['log']\n[listener.gate.http]\norigins = ['https://api.example.com:443', 'http://127.0.0.1:8080']\n\
                  private-networks = true\n[[listener.gate.folder]]\npath = '.'\nas = '/policy'\naccess = 'read'";
    let text = format!(
        "listeners = ['gate']\n[caller.ada]\n{}{}",
        upstream("demo", ""),
        listener("gate", "agent_mode", grants)
    );
    let said = Rig::new(&text).run(&["check"]).said();
    for line in [
        "     requests to: http://127.0.0.1:8080, https://api.example.com, in private networks as well",
        " as /policy, to read",
        "listener 'gate' is granted 'log' and its component does not ask for it",
        "listener 'gate' is granted 'http' and its component does not ask for it",
    ] {
        assert!(said.contains(line), "{line}\nis not in\n{said}");
    }
    for (wrong, reason) in [
        ("path = '.'", "path = 'nowhere'"),
        ("as = '/policy'", "as = '/policy/..'"),
        ("127.0.0.1:8080", "127.0.0.1:8080/path"),
    ]
    .map(|(good, bad)| (text.replace(good, bad), bad))
    {
        let complaint = Rig::new(&wrong).run(&["check"]).refused();
        assert!(complaint.contains("callgate.toml:"), "{reason}: {complaint}");
    }
}

#[test]
fn a_caller_that_would_see_nothing_is_warned_of() {
    let gate = listener("gate", "agent_mode", "config.roles = { writer = ['files__*'] }");
    let text = format!("listeners = ['gate']\n[caller.ada]\nroles = ['writer']\n{gate}{}", upstream("demo", ""));
    let said = Rig::new(&text).run(&["check"]).said();
    assert!(said.contains("callgate.toml: warning: caller 'ada' sees no tool at all"), "{said}");
}

#[test]
fn a_state_file_that_could_not_be_made_is_refused() {
    let text = format!("listeners = []\n[state]\npath = 'no-such-folder/state.sqlite'\n{}", upstream("demo", ""));
    let complaint = Rig::new(&text).run(&["check"]).refused();
    assert!(complaint.contains("there is no folder ") && complaint.contains("no-such-folder"), "{complaint}");
}

#[test]
fn g9_a_generic_tool_beside_hidden_ones_is_warned_of() {
    let warning = "warning: caller 'ada' may call the generic tool 'fetch_url', which may reach what 1 hidden tool of \
                   upstream 'demo' would do";
    let said = Rig::new(&configuration()).run(&["check"]).said();
    assert!(said.contains(warning), "{said}");
    let nothing_hidden = configuration().replace("'list_*', 'delete_*'", "'*'");
    let said = Rig::new(&nothing_hidden).run(&["check"]).said();
    assert!(said.ends_with("there are no warnings.\n"), "{said}");
}

#[test]
fn g6_a_gate_that_fails_is_said_to() {
    let gate = listener("gate", "puppet", "hooks = ['grant']\nconfig.grant = 'trap'");
    let rig = Rig::new(&format!("listeners = ['gate']\n[caller.ada]\n{}{gate}", upstream("demo", "")));
    let said = rig.run(&["check"]).said();
    assert!(said.contains("A grant listener fails: listings show"), "{said}");
    assert!(said.contains("callgate.toml: warning: a grant listener fails for caller 'ada'"), "{said}");
}
