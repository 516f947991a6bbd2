use std::process::Command;

use callgate::sqlite_state::SqliteState;
use callgate_tests::built::guest;
use callgate_tests::gateway::{Configuration, Gateway};
use callgate_tests::peers;
use callgate_tests::waiting::{lines, until};
use callgate_tests::wire::{Revision, Wire};
use serde_json::{Value, json};

use super::{ERAS, INTERNAL, NAMELESS, NOT_VERIFIED, protocol_error, tool_result, unknown};

/// The Python server, started so that its process id is in a file of the gateway's folder: `exec` keeps the id.
fn gateway() -> Gateway {
    let server: Vec<_> = peers::python_server().iter().map(|word| format!("'{}'", word.to_string_lossy())).collect();
    let script = format!("echo $$ > pid; exec {}", server.join(" "));
    Configuration::new()
        .and("[caller.eve]\nroles = [\"writer\"]")
        .upstream("python", &["sh".into(), "-c".into(), script.into()])
        .and("cwd = \".\"\n[permissions.python]\n\"python/record\" = [\"admin\"]")
        .listener("puppet", "before-call = \"trap\"\ntools = [\"greet\"]")
        .component("gate", &guest("puppet"), "deadline-ms = 30000", "grant = \"trap\"\ncallers = [\"eve\"]")
        .listener("audit-trail", "")
        .write()
}

/// The process that runs the tools.
fn upstream(gateway: &Gateway) -> String {
    std::fs::read_to_string(gateway.folder().join("pid")).unwrap().trim().to_owned()
}

async fn session(gateway: &Gateway, revision: Revision, caller: &str) -> Wire {
    let mut server = gateway.serve();
    server.extend(["--as".into(), caller.into()]);
    let mut wire = Wire::start(&server);
    wire.begin(revision).await;
    wire
}

#[tokio::test]
async fn e_table_the_rows_that_an_upstream_tool_can_have() {
    let gateway = gateway();
    for revision in ERAS {
        let mut wire = session(&gateway, revision, "ada").await;
        for (id, name) in (1..).zip(["record", "no_such_tool"]) {
            assert_eq!(wire.answer(&revision.call(id, name, &json!({}))).await, protocol_error(id, &unknown(name)));
        }
        let nameless = revision.request(3, "tools/call", json!({ "arguments": {} }));
        assert_eq!(wire.answer(&nameless).await, protocol_error(3, NAMELESS));
        let trapped = revision.call(4, "greet", &json!({ "name": "Ada" }));
        assert_eq!(wire.answer(&trapped).await, tool_result(revision, 4, INTERNAL));
        wire.close().await;

        let mut wire = session(&gateway, revision, "eve").await;
        for (id, name) in (1..).zip(["add", "record", "no_such_tool"]) {
            assert_eq!(
                wire.answer(&revision.call(id, name, &json!({}))).await,
                tool_result(revision, id, NOT_VERIFIED)
            );
        }
        wire.close().await;
    }
}

#[tokio::test]
async fn e_table_b7_an_upstream_that_is_lost_is_an_internal_error_and_unknown_to_listeners() {
    for revision in ERAS {
        let gateway = gateway();
        let started = gateway.folder().join("started");
        let mut wire = session(&gateway, revision, "ada").await;
        let never = gateway.folder().join("never");
        wire.send(&revision.call(1, "slow", &json!({ "started": started, "release": never }))).await;
        until("the tool to run", || lines(&started) == 1).await;
        let killed = Command::new("kill").args(["-9", &upstream(&gateway)]).status().unwrap();
        assert!(killed.success());
        let answer: Value = serde_json::from_str(&wire.response().await).unwrap();
        assert_eq!(answer, tool_result(revision, 1, INTERNAL));
        wire.close().await;

        let state = SqliteState::open(&gateway.state()).unwrap();
        let records = state.values("audit-trail", "record/").await.unwrap();
        let [record] = &records[..] else { panic!("{records:?}") };
        let record: Value = serde_json::from_str(&record.value).unwrap();
        assert_eq!((&record["failure"], &record["dispatch"]), (&json!("upstream"), &json!("unknown")));
        assert_eq!(lines(&started), 1);
    }
}

#[tokio::test]
async fn e4_an_upstreams_own_errors_pass_as_they_are() {
    let gateway = gateway();
    for revision in ERAS {
        let mut through = session(&gateway, revision, "ada").await;
        let mut direct = Wire::start(&peers::python_server());
        direct.begin(revision).await;
        for (id, tool, arguments) in [
            (1, "fail", json!({ "reason": "on purpose" })),
            (2, "add", json!({ "a": "no number" })),
            (3, "add", json!({})),
        ] {
            let request = revision.call(id, tool, &arguments);
            let (direct, through) = (direct.ask(&request).await, through.ask(&request).await);
            assert!(direct.contains("isError\":true") || direct.contains("\"error\""), "{direct}");
            assert_eq!(through, direct);
        }
        through.close().await;
    }
}
