//! `callgate serve`: what keeps it from starting, and how it starts and ends.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::rig::{PROGRAM, Rig, call, component, listener, names, upstream};

/// What the component's file holds, what more the listener's table says, the line that is named, and a part of the reason.
type Bad<'a> = (Option<&'a [u8]>, &'a str, usize, &'a str);

#[test]
fn f1_a_component_that_can_not_be_a_listener_keeps_serve_from_starting() {
    let real = std::fs::read(component("agent_mode")).unwrap();
    let [module, component] = ["(module)", "(component)"].map(|text| wat::parse_str(text).unwrap());
    let pin = format!("sha256 = '{}'", "0".repeat(64));
    let cases: [Bad<'_>; 9] = [
        (None, "", 5, "gate.wasm: there is no such file"),
        (Some(b""), "", 5, "the file is empty"),
        (Some(b"hooks"), "", 5, "it is a text and no component"),
        (Some(&real[..real.len() / 2]), "", 5, "the file is truncated"),
        (Some(&module), "", 5, "it is a core WebAssembly module and no component"),
        (Some(&component), "", 5, "it exports no hook of a listener"),
        (Some(&real), &pin, 5, "the configuration pins 000000"),
        (Some(&real), "hooks = ['grant',\n'after-call']", 7, "the component has no after-call hook"),
        (Some(&real), "limits.memory-mib = 4096", 4, "for bytes of memory is above"),
    ];
    for (content, more, line, reason) in cases {
        let rig = Rig::new(&format!("listeners = [\n'gate'\n]\n[listener.gate]\ncomponent = 'gate.wasm'\n{more}\n"));
        if let Some(content) = content {
            rig.write("gate.wasm", content);
        }
        for command in ["serve", "check"] {
            let complaint = rig.run(&[command]).refused();
            assert!(complaint.starts_with(&format!("callgate.toml:{line}: listener 'gate': ")), "{complaint}");
            assert!(complaint.contains(reason), "{complaint}");
        }
    }
}

#[test]
fn every_bad_component_is_named_at_once() {
    let rig = Rig::new("listeners = ['a', 'b']\n[listener.a]\ncomponent = 'a'\n[listener.b]\ncomponent = 'b'\n");
    let complaint = rig.run(&["serve"]).refused();
    let starts: Vec<_> = complaint.lines().filter_map(|line| line.split(": listener").next()).collect();
    assert_eq!(starts, ["callgate.toml:3", "callgate.toml:5"]);
}

#[test]
fn two_servers_with_a_tool_of_one_name_are_refused_until_one_has_a_prefix() {
    let servers = |more| format!("listeners = []\n{}{}", upstream("one", ""), upstream("two", more));
    let rig = Rig::new(&servers(""));
    for command in ["serve", "check"] {
        let complaint = rig.run(&["--log", "off", command]).refused();
        assert!(complaint.starts_with("callgate.toml:8: 'one' and 'two' both offer a tool called"), "{complaint}");
    }
    rig.write("callgate.toml", servers("prefix = \"two__\""));
    rig.run(&["check"]).said();
}

#[test]
fn a_server_that_does_not_start_is_named_by_check() {
    let rig = Rig::new("listeners = []\n\n[upstream.files]\ncommand = ['./no-such-server']\nunlisted = 'shown'\n");
    let complaint = rig.run(&["check"]).refused();
    assert!(complaint.starts_with("callgate.toml:3: 'files' can't be started: "), "{complaint}");
    assert!(rig.run(&["serve"]).refused().contains("'files' can't be started"));
}

#[test]
fn a_caller_that_the_file_does_not_have_is_refused() {
    let rig = Rig::new(&format!("listeners = []\n{}", upstream("demo", "")));
    let complaint = rig.run(&["serve", "--as", "eve"]).refused();
    assert_eq!(complaint, "callgate: callgate.toml: there is no [caller.eve] to run the session as\n");
}

#[tokio::test]
async fn g7_with_nobody_signed_in_there_is_nothing() {
    let rig = Rig::new(&format!("listeners = []\n[state]\nmemory = true\n{}", upstream("demo", "")));
    let client = rig.serve(&["serve"]).await;
    assert_eq!(names(&client).await, [""; 0]);
    let answer = call(&client, "list_rewards", "{}").await;
    assert_eq!(answer, r#"{"code":-32602,"message":"Error: Unknown tool 'list_rewards'."}"#);
    client.close().await;

    let started = Command::new(PROGRAM).arg("serve").current_dir(rig.path("")).stdin(Stdio::null()).output().unwrap();
    let log = String::from_utf8(started.stderr).unwrap();
    assert!(log.contains("nobody is signed in: no tool is shown and every call is refused"), "{log}");
}

#[tokio::test]
async fn relative_paths_are_relative_to_the_file() {
    let rig = Rig::new("");
    std::fs::create_dir(rig.path("etc")).unwrap();
    std::fs::copy(component("agent_mode"), rig.path("etc/mode.wasm")).unwrap();
    let text = format!(
        "listeners = ['mode']\n[caller.ada]\nroles = ['writer']\n[stdio]\ncaller = 'ada'\n{}[listener.mode]\n\
         component = 'mode.wasm'\ndeadline-ms = 10000\nconfig.roles = {{ writer = ['add_*'] }}\n",
        upstream("demo", "")
    );
    rig.write("etc/callgate.toml", text);
    let client = rig.serve(&["serve", "--config", "etc/callgate.toml"]).await;
    assert_eq!(names(&client).await, ["add_reward"]);
    client.close().await;
    assert!(rig.path("etc/callgate-state.sqlite").exists());
}

#[tokio::test]
async fn a_gate_that_traps_refuses_calls_and_degrades_listings() {
    let gate = listener("gate", "puppet", "hooks = ['grant']\nconfig.grant = 'trap'");
    let rig = Rig::new(&format!("listeners = ['gate']\n[caller.ada]\n{}{gate}", upstream("demo", "")));
    let client = rig.session("ada").await;
    assert!(names(&client).await.contains(&"list_rewards".to_owned()));
    let answer = call(&client, "list_rewards", "{}").await;
    assert!(answer.contains("Error: Tool access could not be verified."), "{answer}");
    client.close().await;
}

#[cfg(unix)]
#[test]
fn asked_to_end_it_ends_in_order() {
    let rig = Rig::new(&format!("listeners = []\n{}", upstream("demo", "")));
    let mut child = Command::new(PROGRAM)
        .arg("serve")
        .current_dir(rig.path(""))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    log.find(|line| line.contains("nobody is signed in")).unwrap();
    // Its standard input stays open: only the signal ends it.
    let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(asked.success());
    assert!(child.wait().unwrap().success());
}
