//! The two ways in: the real binary in front of a server, and the library around a tool of its own.

use std::sync::Arc;
use std::time::Duration;

use callgate::sqlite_state::SqliteState;
use callgate_core::binding::{ArgumentType, Parameter};
use callgate_core::permissions::Permissions;
use callgate_core::state::MemoryState;
use callgate_core::{NativeTool, StateStore, testing};
use callgate_tests::built::guest;
use callgate_tests::gateway::{Configuration, Gateway};
use callgate_tests::host::{self, Component, kept};
use callgate_tests::peers;
use callgate_tests::waiting::lines;
use callgate_tests::wire::{Revision, Wire};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A way in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Door {
    Gateway,
    Library,
}

/// A session, and where to look for what came of it. `record` writes a line into a file of the folder.
pub(super) struct Session {
    pub(super) wire: Wire,
    place: Place,
}

enum Place {
    Gateway(Gateway),
    Library { folder: TempDir, state: Arc<dyn StateStore> },
}

/// What came of a session.
#[derive(Debug)]
pub(super) struct After {
    /// How often the tool ran.
    pub(super) runs: usize,
    /// The endings in the audit trail.
    pub(super) audited: Vec<String>,
    /// The endings that another listener was told.
    pub(super) told: Vec<String>,
}

/// Short where something is never to end, and long where a busy machine must not matter.
fn deadline(act: &Value) -> Duration {
    if *act == json!("loop") { Duration::from_millis(200) } else { host::AMPLE }
}

impl Session {
    pub(super) async fn open(door: Door, revision: Revision, hook: &str, act: &Value) -> Self {
        let (mut wire, place) = match door {
            Door::Gateway => gateway(hook, act),
            Door::Library => library(hook, act).await,
        };
        wire.begin(revision).await;
        Self { wire, place }
    }

    pub(super) fn arguments(&self) -> Value {
        json!({ "path": self.place.runs(), "line": "ran" })
    }

    /// Ends the session and looks at what it left behind.
    pub(super) async fn close(self) -> After {
        drop(self.wire.close().await);
        let state: Arc<dyn StateStore> = match &self.place {
            Place::Gateway(gateway) => Arc::new(SqliteState::open(&gateway.state()).unwrap()),
            Place::Library { state, .. } => state.clone(),
        };
        let endings = |records: Vec<(String, Value)>| {
            records.into_iter().map(|(_, record)| record["ending"].as_str().unwrap().to_owned()).collect()
        };
        After {
            runs: lines(&self.place.runs()),
            audited: endings(kept(&state, "audit-trail", "record/").await),
            told: endings(kept(&state, "notes", "report/").await),
        }
    }
}

impl Place {
    fn runs(&self) -> std::path::PathBuf {
        let folder = match self {
            Self::Gateway(gateway) => gateway.folder(),
            Self::Library { folder, .. } => folder.path(),
        };
        folder.join("runs.txt")
    }
}

fn gateway(hook: &str, act: &Value) -> (Wire, Place) {
    let options = format!("deadline-ms = {}", deadline(act).as_millis());
    let gateway = Configuration::new()
        .upstream("python", &peers::python_server())
        .component("puppet", &guest("puppet"), &options, &format!("{hook} = {}", toml(act)))
        .component("notes", &guest("puppet"), "deadline-ms = 30000", "after-call = \"record\"")
        .listener("audit-trail", "")
        .write();
    (gateway.start(), Place::Gateway(gateway))
}

/// The value as TOML spells it: tables have `=` where JSON has `:`.
fn toml(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = members.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

async fn library(hook: &str, act: &Value) -> (Wire, Place) {
    let state: Arc<dyn StateStore> = Arc::new(MemoryState::default());
    let deadline = deadline(act);
    let puppet = Component::named("puppet").configured(hook, act.clone()).limited(|limits| {
        limits.decision_deadline = deadline;
        limits.report_deadline = deadline;
    });
    let notes = Component::at("notes", guest("puppet")).configured("after-call", json!("record"));
    let trail = Component::named("audit-trail");
    let listeners = vec![puppet.over(&state).await, notes.over(&state).await, trail.over(&state).await];
    let server = callgate_mcp::Server {
        dispatcher: host::dispatcher(Vec::new(), Permissions::default(), listeners),
        caller: Some(testing::caller("ada", &["writer"])),
        upstreams: Vec::new(),
        native: vec![record().into()],
        name: "suite".into(),
        version: "1".into(),
    };
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = tokio::io::split(theirs);
    tokio::spawn(async move { callgate_mcp::serve(server, reader, writer, std::future::pending()).await });
    (Wire::over(ours), Place::Library { folder: tempfile::tempdir().unwrap(), state })
}

/// What `record` of the Python server is, as a native tool.
fn record() -> NativeTool {
    let text = |name: &str| Parameter::new(name, ArgumentType::String);
    NativeTool::new("record", [text("path"), text("line")], |arguments| async move {
        use std::io::Write;
        let line: String = arguments.get("line")?;
        let path: String = arguments.get("path")?;
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
        writeln!(file, "{line}")?;
        Ok(format!("recorded {line}").into())
    })
    .required("path", ArgumentType::String)
    .required("line", ArgumentType::String)
}
