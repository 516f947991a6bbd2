//! A session with both of its ends in hand: what the client says and hears, and what each upstream hears and says.

use std::sync::Arc;
use std::time::Duration;

use callgate_core::permissions::Permissions;
use callgate_core::registry::{Exposure, Reach, Tool};
use callgate_core::testing::{Scripted, caller, subscription};
use callgate_core::{Dispatcher, RuleSet, Rules, Subscription, ToolRegistry};
use callgate_mcp::{Governance, ServeError, Server, Transport, Upstream, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, split};
use tokio::task::JoinHandle;

/// Far longer than anything here takes: what is waited for either comes or the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// One end of a connection.
pub(crate) struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: Option<WriteHalf<DuplexStream>>,
}

/// A session under test.
pub(crate) struct Rig {
    pub(crate) client: Peer,
    pub(crate) upstreams: Vec<Peer>,
    pub(crate) dispatcher: Dispatcher,
    pub(crate) served: JoinHandle<Result<(), ServeError>>,
}

/// What a session is made of.
pub(crate) struct Setup {
    pub(crate) signed_in: bool,
    pub(crate) upstreams: Vec<(&'static str, Option<&'static str>)>,
    pub(crate) native: Vec<Tool>,
    pub(crate) listeners: Vec<Subscription>,
}

impl Default for Setup {
    fn default() -> Self {
        Self { signed_in: true, upstreams: vec![("up", None)], native: Vec::new(), listeners: Vec::new() }
    }
}

/// A caller of this session holds no role, and every tool is shown but those that begin with `hidden`.
fn upstream(name: &str, prefix: Option<&str>, stream: DuplexStream) -> Upstream {
    Upstream {
        name: name.into(),
        prefix: prefix.map(Into::into),
        transport: Transport::stream(stream),
        govern: Arc::new(|tool, _| Governance {
            section: None,
            exposure: if tool.starts_with("hidden") { Exposure::Withheld } else { Exposure::Shown },
            reach: Reach::Bounded,
            attributes: Vec::new(),
        }),
    }
}

impl Setup {
    /// With that listener.
    pub(crate) fn listener(listener: &Arc<Scripted>) -> Self {
        Self { listeners: vec![subscription("listener", listener.clone())], ..Self::default() }
    }

    pub(crate) fn begin(self) -> Rig {
        let rules = RuleSet::new(ToolRegistry::default(), Permissions::default(), self.listeners);
        let dispatcher = Dispatcher::new(Arc::new(Rules::new(rules)), Duration::from_secs(600));
        let (mut upstreams, mut peers) = (Vec::new(), Vec::new());
        for (name, prefix) in self.upstreams {
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            upstreams.push(upstream(name, prefix, ours));
            peers.push(Peer::new(theirs));
        }
        let server = Server {
            dispatcher: dispatcher.clone(),
            caller: self.signed_in.then(|| caller("ada", &[])),
            upstreams,
            native: self.native,
            name: "gate".into(),
            version: "1".into(),
        };
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = split(ours);
        let served = tokio::spawn(serve(server, reader, writer, std::future::pending()));
        Rig { client: Peer::new(theirs), upstreams: peers, dispatcher, served }
    }
}

impl Peer {
    fn new(stream: DuplexStream) -> Self {
        let (reader, writer) = split(stream);
        Self { lines: BufReader::new(reader).lines(), writer: Some(writer) }
    }

    pub(crate) async fn say(&mut self, line: impl AsRef<str>) {
        self.try_say(line).await.unwrap();
    }

    /// The same, where the other end may be gone.
    pub(crate) async fn try_say(&mut self, line: impl AsRef<str>) -> std::io::Result<()> {
        let writer = self.writer.as_mut().expect("this end was closed");
        writer.write_all(format!("{}\n", line.as_ref()).as_bytes()).await
    }

    pub(crate) async fn say_json(&mut self, message: Value) {
        self.say(message.to_string()).await;
    }

    /// The next line; none at the end.
    pub(crate) async fn hear_or_end(&mut self) -> Option<String> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        line.expect("nothing came").unwrap()
    }

    pub(crate) async fn hear(&mut self) -> String {
        self.hear_or_end().await.expect("the other end is gone")
    }

    pub(crate) async fn hear_json(&mut self) -> Value {
        serde_json::from_str(&self.hear().await).unwrap()
    }

    /// Says no more. What the other end still says can be heard.
    pub(crate) async fn close(&mut self) {
        if let Some(mut writer) = self.writer.take() {
            writer.shutdown().await.unwrap();
        }
    }

    /// Hears the gateway's own request for the tools and answers it with these definitions. Gives the request.
    pub(crate) async fn list(&mut self, definitions: &[&str]) -> Value {
        let result = format!(r#"{{"tools":[{}]}}"#, definitions.join(","));
        self.list_with(&result).await
    }

    /// The same with a whole result.
    pub(crate) async fn list_with(&mut self, result: &str) -> Value {
        let asked = self.hear_json().await;
        assert_eq!(asked["method"], "tools/list", "{asked}");
        assert!(asked["id"].as_str().unwrap().starts_with("callgate:"), "{asked}");
        self.say(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, asked["id"])).await;
        asked
    }
}

impl Rig {
    /// A session whose handshake is over and whose only upstream listed these tools.
    pub(crate) async fn with_tools(setup: Setup, names: &[&str]) -> Self {
        let mut rig = setup.begin();
        rig.shake_hands(names).await;
        rig
    }

    pub(crate) async fn shake_hands(&mut self, names: &[&str]) {
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        self.client.say(initialized).await;
        assert_eq!(self.up().hear().await, initialized);
        let definitions: Vec<_> = names.iter().map(|name| definition(name)).collect();
        self.up().list(&definitions.iter().map(String::as_str).collect::<Vec<_>>()).await;
        self.settle().await;
    }

    pub(crate) fn up(&mut self) -> &mut Peer {
        &mut self.upstreams[0]
    }

    /// Returns once everything that the client said before has gone where it goes: a request after it has come through.
    /// Everything that the upstream hears before it was heard by the test already, or this fails.
    pub(crate) async fn settle(&mut self) {
        let ping = r#"{"jsonrpc":"2.0","id":"settle","method":"ping"}"#;
        self.client.say(ping).await;
        assert_eq!(self.up().hear().await, ping);
        let pong = r#"{"jsonrpc":"2.0","id":"settle","result":{}}"#;
        self.up().say(pong).await;
        assert_eq!(self.client.hear().await, pong);
    }

    /// Ends the session and waits for its end.
    pub(crate) async fn end(mut self) {
        self.client.close().await;
        drop(self.upstreams);
        tokio::time::timeout(PATIENCE, self.served).await.expect("the session does not end").unwrap().unwrap();
    }
}

/// The definition of a tool of that name.
pub(crate) fn definition(name: &str) -> String {
    json!({ "name": name, "inputSchema": { "type": "object" } }).to_string()
}

/// A call of that tool.
pub(crate) fn call(id: &str, tool: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#)
}

/// Waits until the condition holds.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    let waiting = async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.expect("the condition does not come to hold");
}

/// The names in a listing, in its order.
pub(crate) fn names(listing: &Value) -> Vec<&str> {
    listing["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}
