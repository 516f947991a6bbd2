//! A whole call over stdio: to the server itself, and through the real binary in front of it.

use std::path::Path;
use std::process::Stdio;

use callgate_tests::built;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::measure::Table;
use crate::upstream::ARGUMENT;

const ROUNDS: usize = 3_000;

pub(crate) async fn measure(table: &mut Table) {
    let this = std::env::current_exe().expect("a benchmark is a file");
    let mut server = Command::new(&this);
    server.arg(ARGUMENT);
    time(table, "call over stdio: no gateway", server).await;
    build_gateway();
    let folder = TempDir::new().expect("a folder can be made");
    for (what, listeners) in [
        ("call over stdio: gateway, no listener", ""),
        ("call over stdio: gateway, grant, before-call and after-call", "\"grant\", \"before\", \"after\""),
    ] {
        let file = folder.path().join("callgate.toml");
        std::fs::write(&file, configuration(&this, listeners)).expect("the folder can be written");
        let mut gateway = Command::new(built::callgate());
        gateway.arg("serve").arg("--config").arg(&file).current_dir(folder.path());
        time(table, what, gateway).await;
    }
}

/// Cargo builds the binary for no benchmark of another package, and one that is there may be older than the rest.
fn build_gateway() {
    let Some(cargo) = std::env::var_os("CARGO") else { return };
    let mut build = std::process::Command::new(cargo);
    build.current_dir(built::root()).args([
        "build",
        "--quiet",
        "--locked",
        "--profile",
        "bench",
        "--package",
        "callgate",
    ]);
    assert!(build.status().expect("cargo starts").success(), "the binary does not build");
}

fn configuration(server: &Path, listeners: &str) -> String {
    let puppet = built::guest("puppet");
    let tables: String = [("grant", "grant"), ("before", "before-call"), ("after", "after-call")]
        .into_iter()
        .filter(|(name, _)| listeners.contains(name))
        .map(|(name, hook)| {
            format!("[listener.{name}]\ncomponent = {puppet:?}\nhooks = [\"{hook}\"]\ndeadline-ms = 60000\n")
        })
        .collect();
    format!(
        "listeners = [{listeners}]\n[caller.ada]\nroles = [\"writer\"]\n[stdio]\ncaller = \"ada\"\n[state]\nmemory = true\n\
         [upstream.nothing]\ncommand = [{server:?}, {ARGUMENT:?}]\nunlisted = \"shown\"\n{tables}"
    )
}

async fn time(table: &mut Table, what: &str, mut server: Command) {
    let server = server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    let mut client = Client::start(server.spawn().expect("the server starts")).await;
    table
        .time(what, ROUNDS, async || {
            let reply = client.request("tools/call", json!({ "name": "read", "arguments": { "path": "/srv/a.txt" } }));
            let reply = reply.await;
            assert!(reply.pointer("/result/content/0/text").is_some(), "{reply}");
        })
        .await;
    client.child.kill().await.expect("the server can be ended");
}

struct Client {
    child: Child,
    requests: ChildStdin,
    replies: Lines<BufReader<ChildStdout>>,
    id: u64,
}

impl Client {
    async fn start(mut child: Child) -> Self {
        let requests = child.stdin.take().expect("it is piped");
        let replies = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut client = Self { child, requests, replies, id: 0 };
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
