//! A client that knows nothing but lines: it sees every byte of what a server says.

use std::ffi::OsString;
use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream};
use tokio::process::{Child, Command};

use crate::waiting::PATIENCE;

/// A revision of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// 2025-06-18, with a handshake.
    June2025,
    /// 2025-11-25, with a handshake.
    November2025,
    /// 2026-07-28, in which every request stands for itself.
    July2026,
}

impl Revision {
    /// All that the gateway speaks.
    pub const ALL: [Self; 3] = [Self::June2025, Self::November2025, Self::July2026];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }

    /// What a client says of itself in `_meta` of each request of this revision.
    fn meta(self) -> Value {
        match self {
            Self::June2025 | Self::November2025 => json!({}),
            Self::July2026 => json!({
                "io.modelcontextprotocol/protocolVersion": self.name(),
                "io.modelcontextprotocol/clientCapabilities": {},
            }),
        }
    }

    /// A request of this revision.
    pub fn request(self, id: u64, method: &str, mut params: Value) -> String {
        if let (Value::Object(own), true) = (self.meta(), params.is_object()) {
            let meta = params["_meta"].as_object().cloned().unwrap_or_default();
            let meta: serde_json::Map<_, _> = own.into_iter().chain(meta).collect();
            if !meta.is_empty() {
                params["_meta"] = meta.into();
            }
        }
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
    }

    /// A call.
    pub fn call(self, id: u64, tool: &str, arguments: &Value) -> String {
        self.request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// A listing.
    pub fn list(self, id: u64) -> String {
        self.request(id, "tools/list", json!({}))
    }
}

/// A connection to a server.
pub struct Wire {
    reader: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    child: Option<Child>,
}

impl Wire {
    /// Starts a server. What it writes to standard error is discarded.
    pub fn start(server: &[OsString]) -> Self {
        Self::start_with(server, Stdio::null())
    }

    /// Starts a server whose standard error goes there: into a pipe that nobody reads, if it is one.
    pub fn start_with(server: &[OsString], error: Stdio) -> Self {
        let (program, arguments) = server.split_first().expect("a command has a program");
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(error)
            .kill_on_drop(true)
            .spawn()
            .expect("the server can be started");
        let (stdin, stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
        Self { reader: BufReader::new(Box::new(stdout)), writer: Box::new(stdin), child: Some(child) }
    }

    /// The client's end of a connection within this process.
    pub fn over(stream: DuplexStream) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader: BufReader::new(Box::new(reader)), writer: Box::new(writer), child: None }
    }

    /// Begins a session of that revision: with a handshake, where the revision has one. Gives what the server said of
    /// itself.
    pub async fn begin(&mut self, revision: Revision) -> String {
        match revision {
            Revision::July2026 => self.ask(&revision.request(0, "server/discover", json!({}))).await,
            Revision::June2025 | Revision::November2025 => {
                let client = json!({ "name": "lines", "version": "1" });
                let params = json!({ "protocolVersion": revision.name(), "capabilities": {}, "clientInfo": client });
                let greeting = self.ask(&revision.request(0, "initialize", params)).await;
                self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
                greeting
            }
        }
    }

    /// Sends a line.
    pub async fn send(&mut self, line: &str) {
        self.send_bytes(line.as_bytes()).await;
    }

    /// Sends a line that may be no text.
    pub async fn send_bytes(&mut self, line: &[u8]) {
        self.writer.write_all(&[line, b"\n"].concat()).await.expect("the server reads");
        self.writer.flush().await.expect("the server reads");
    }

    /// The next line, without its end; none when the server has ended.
    pub async fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = tokio::time::timeout(PATIENCE, self.reader.read_line(&mut line)).await;
        let bytes = read.expect("the server says something").expect("the server writes text");
        (bytes > 0).then(|| line.trim_end_matches('\n').to_owned())
    }

    /// The next response, whatever it answers. What the server tells or asks in between is passed over.
    pub async fn response(&mut self) -> String {
        loop {
            let line = self.line().await.expect("the server answers before it ends");
            let message: Value = serde_json::from_str(&line).expect("the server writes JSON");
            if message.get("method").is_none() {
                return line;
            }
        }
    }

    /// Sends a request and gives the response to it.
    pub async fn ask(&mut self, request: &str) -> String {
        let asked: Value = serde_json::from_str(request).expect("a request is JSON");
        self.send(request).await;
        let line = self.response().await;
        let answered: Value = serde_json::from_str(&line).expect("the server writes JSON");
        assert_eq!(answered["id"], asked["id"], "{request}\n{line}");
        line
    }

    /// The same, read.
    pub async fn answer(&mut self, request: &str) -> Value {
        serde_json::from_str(&self.ask(request).await).expect("the server writes JSON")
    }

    /// Ends the session as a client does, and gives what the server still had to say once it has ended.
    pub async fn close(mut self) -> Vec<String> {
        self.writer.shutdown().await.expect("the connection can be closed");
        self.writer = Box::new(tokio::io::sink());
        let mut rest = Vec::new();
        while let Some(line) = self.line().await {
            rest.push(line);
        }
        if let Some(mut child) = self.child.take() {
            let ended = tokio::time::timeout(PATIENCE, child.wait()).await;
            assert!(ended.expect("the server ends").expect("the server was started").success());
        }
        rest
    }

    /// Kills the server where it stands and waits until it is gone.
    pub async fn kill(mut self) {
        let mut child = self.child.take().expect("only a process can be killed");
        child.kill().await.expect("the server was alive");
    }
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").field("child", &self.child).finish_non_exhaustive()
    }
}
