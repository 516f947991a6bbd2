//! A small client: for whoever looks at an upstream, or talks to a gateway, without being one.

use std::sync::Arc;

use async_trait::async_trait;
use callgate_core::Json;
use serde_json::json;

use crate::edit;
use crate::envelope::{self, Notification, Payload, Request, Response, code};
use crate::era::{CAPABILITIES_KEY, Era, LEGACY_VERSIONS, MODERN_VERSION, VERSION_KEY};
use crate::inventory::{self, ListingFailure};
use crate::upstream::{Connection, Incoming, Lost, Transport};

/// A connection to a server as its client.
#[derive(Debug)]
pub struct Client {
    connection: Arc<Connection>,
    era: Era,
    greeting: Json,
}

/// Why a client can't go on.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server can't be started.
    #[error("'{server}' can't be started")]
    Start {
        /// Which.
        server: String,
        /// Why.
        source: std::io::Error,
    },
    /// The server is gone.
    #[error(transparent)]
    Lost(#[from] Lost),
    /// The server does not agree to begin.
    #[error("'{server}' refuses the handshake: {error}")]
    Handshake {
        /// Which.
        server: String,
        /// Its own error.
        error: Json,
    },
    /// The tools can't be listed.
    #[error(transparent)]
    Listing(#[from] ListingFailure),
}

impl Client {
    /// Opens a server and begins: asks whether it is of the modern era, and if it is not, shakes hands.
    ///
    /// # Errors
    /// When the server can't be started, is lost, or refuses.
    pub async fn open(name: &str, transport: Transport) -> Result<Self, ClientError> {
        let start = |source| ClientError::Start { server: name.to_owned(), source };
        let (connection, reader) = Connection::open(name, transport).map_err(start)?;
        tokio::spawn(reader.run(Arc::new(Polite)));
        let discovered = connection.ask("server/discover", Some(&modern_params("{}"))).await?;
        if let Payload::Result(greeting) = discovered.payload {
            return Ok(Self { connection, era: Era::Modern, greeting });
        }
        let [newest, ..] = LEGACY_VERSIONS;
        let params = json!({
            "protocolVersion": newest,
            "capabilities": {},
            "clientInfo": { "name": "callgate", "version": env!("CARGO_PKG_VERSION") },
        });
        match connection.ask("initialize", Some(&params.to_string())).await?.payload {
            Payload::Result(greeting) => {
                connection.send(envelope::request(None, "notifications/initialized", None));
                Ok(Self { connection, era: Era::Legacy, greeting })
            }
            Payload::Error(error) => Err(ClientError::Handshake { server: name.to_owned(), error }),
        }
    }

    /// The era that the server belongs to.
    pub fn era(&self) -> Era {
        self.era
    }

    /// What the server said of itself: the result of the probe or of the handshake.
    pub fn greeting(&self) -> &Json {
        &self.greeting
    }

    /// The connection itself, for tools that call through it.
    pub fn connection(&self) -> &Arc<Connection> {
        &self.connection
    }

    /// The definitions of all tools, as the server wrote them.
    ///
    /// # Errors
    /// When the listing can't be followed to its end.
    pub async fn list_tools(&self) -> Result<Vec<Json>, ListingFailure> {
        let base = Json::parse(&self.params("{}")).ok();
        Ok(inventory::list(&self.connection, base.as_ref()).await?.tools)
    }

    /// Calls a tool with those arguments (an object) and gives the whole response.
    ///
    /// # Errors
    /// When the server is gone.
    pub async fn call(&self, tool: &str, arguments: &Json) -> Result<Response, Lost> {
        let params = format!(r#"{{"name":{},"arguments":{arguments}}}"#, Json::string(tool));
        self.request("tools/call", &params).await
    }

    /// Sends any request; `params` is the text of an object.
    ///
    /// # Errors
    /// When the server is gone.
    pub async fn request(&self, method: &str, params: &str) -> Result<Response, Lost> {
        self.connection.ask(method, Some(&self.params(params))).await
    }

    /// Ends the connection, and the server if it is a child.
    pub async fn close(self) {
        self.connection.close().await;
    }

    fn params(&self, params: &str) -> String {
        match self.era {
            Era::Legacy => params.to_owned(),
            Era::Modern => modern_params(params),
        }
    }
}

/// Parameters with what every request of the modern era says about its client.
fn modern_params(params: &str) -> String {
    let mut text = params.to_owned();
    if edit::find(&text, &["_meta"]).is_none() {
        text = edit::set(&text, &["_meta"], "{}");
    }
    let text = edit::set(&text, &["_meta", VERSION_KEY], Json::string(MODERN_VERSION).as_str());
    edit::set(&text, &["_meta", CAPABILITIES_KEY], "{}")
}

/// Answers pings and nothing else: this client can do nothing for a server.
struct Polite;

#[async_trait]
impl Incoming for Polite {
    async fn request(&self, from: &Arc<Connection>, request: Request) {
        from.send(match request.method.as_str() {
            "ping" => envelope::result(&request.id, &Json::empty_object()),
            _ => envelope::error(Some(&request.id), code::METHOD_NOT_FOUND, "Method not found"),
        });
    }

    async fn notification(&self, _from: &Arc<Connection>, notification: Notification) {
        tracing::debug!(method = notification.method, "a notification is not of interest");
    }
}
