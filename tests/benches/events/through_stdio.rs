//! A whole call over stdio: to the server itself, and through the real binary in front of it.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use callgate_tests::built;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::Mutex;

use crate::measure::{Subject, Table};
use crate::upstream::ARGUMENT;

pub(crate) async fn measure() -> Table {
    let this = std::env::current_exe().expect("a benchmark is a file");
    built::build_callgate();
    let folder = TempDir::new().expect("a folder can be made");
    let gateway = |name: &str, listeners: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, configuration(&this, listeners)).expect("the folder can be written");
        let mut gateway = Command::new(built::callgate());
        gateway.arg("serve").arg("--config").arg(&file).current_dir(folder.path());
        gateway
    };
    let mut server = Command::new(&this);
    server.arg(ARGUMENT);
    let mut subjects = Vec::new();
    for (what, server) in [
        ("no gateway", server),
        ("gateway, no listener", gateway("none.toml", "")),
        ("gateway, grant, before-call and after-call in Rust", gateway("three.toml", r#""grant", "before", "after""#)),
    ] {
        subjects.push(calling(what, server).await);
    }
    let mut table = Table::of_times("a whole call over stdio");
    table.compare(subjects).await;
    table
}

fn configuration(server: &Path, listeners: &str) -> String {
    let policy = built::guest("policy");
    let tables: String = [("grant", "grant"), ("before", "before-call"), ("after", "after-call")]
        .into_iter()
        .filter(|(name, _)| listeners.contains(name))
        .map(|(name, hook)| {
            format!("[listener.{name}]\ncomponent = {policy:?}\nhooks = [\"{hook}\"]\ndeadline-ms = 60000\n")
        })
        .collect();
    format!(
        "listeners = [{listeners}]\n[caller.ada]\nroles = [\"reader\"]\n[stdio]\ncaller = \"ada\"\n[state]\nmemory = true\n\
         [upstream.nothing]\ncommand = [{server:?}, {ARGUMENT:?}]\nunlisted = \"shown\"\n{tables}"
    )
}

async fn calling(what: &str, mut server: Command) -> Subject {
    let server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let client = Client::start(server.spawn().expect("the server starts")).await;
    let client = Arc::new(Mutex::new(client));
    Subject::new(what, move || {
        let client = client.clone();
        async move {
            let call = json!({ "name": "read", "arguments": { "path": "/srv/a.txt" } });
            let reply = client.lock().await.request("tools/call", call).await;
            assert!(reply.pointer("/result/content/0/text").is_some(), "{reply}");
        }
    })
}

struct Client {
    // Ends with the client.
    _child: Child,
    requests: ChildStdin,
    replies: Lines<BufReader<ChildStdout>>,
    id: u64,
}

impl Client {
    async fn start(mut child: Child) -> Self {
        let requests = child.stdin.take().expect("it is piped");
        let replies = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut client = Self { _child: child, requests, replies, id: 0 };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "0" },
        });
        let welcome = client.request("initialize", hello).await;
        assert!(welcome.get("result").is_some(), "{welcome}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        client
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        loop {
            let line = self.replies.next_line().await.expect("the server writes lines").expect("it has not ended");
            let message: Value = serde_json::from_str(&line).expect("lines are JSON");
            if message.get("id").and_then(Value::as_u64) == Some(id) {
                return message;
            }
        }
    }

    async fn send(&mut self, message: &Value) {
        let line = format!("{message}\n");
        self.requests.write_all(line.as_bytes()).await.expect("the server reads");
    }
}
