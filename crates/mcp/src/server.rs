//! The server that clients see: one session over a reader and a writer, and what is behind it.

mod call;
mod fleet;
mod from_client;
mod from_upstream;
mod in_flight;
mod listing;
mod announcing;
mod merge;
mod session;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use callgate_core::registry::Tool;
use callgate_core::{Caller, Dispatcher};
use futures_util::stream;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::builtin;
use crate::inventory::Inventory;
use crate::lines::{MAX_CLIENT_LINE, read_line, write_lines};
use crate::upstream::Upstream;
use fleet::Fleet;
use from_upstream::Listening;
use session::Session;

/// How many messages wait for a client that does not read before upstreams have to wait too.
const CLIENT_QUEUE: usize = 256;
/// How much may be done for one client at the same time. It is more than its requests may come to: what is above them waits
/// for the client to read.
const MAX_WORK: usize = 2_048;
/// How long a client that is at that limit may go without reading.
const UNREAD: Duration = Duration::from_secs(60);
/// How long calls and after-call events have to come to their end once the client is gone: a listener may take a minute,
/// which is the longest deadline that a configuration gives, and another one may wait for it (A1).
const DRAIN: Duration = Duration::from_secs(150);
/// How long a client has to read what was said to it last.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// What a session is made of.
pub struct Server {
    /// Governs every listing and every call.
    pub dispatcher: Dispatcher,
    /// Who the session runs for; none when nobody is signed in (G7).
    pub caller: Option<Arc<Caller>>,
    /// The servers behind the gateway, in configured order.
    pub upstreams: Vec<Upstream>,
    /// Tools of the host project itself.
    pub native: Vec<Tool>,
    /// What the server calls itself where no single upstream speaks for itself.
    pub name: String,
    /// The version that goes with the name.
    pub version: String,
}

/// Why there is no session, or no more of it.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An upstream can't be started.
    #[error("upstream '{upstream}' can't be started")]
    Start {
        /// Which.
        upstream: String,
        /// Why.
        source: std::io::Error,
    },
    /// There is nothing to serve.
    #[error("there is neither an upstream nor a native tool")]
    Nothing,
    /// The client can't be heard any more.
    #[error("the client can't be heard any more")]
    Read(#[source] std::io::Error),
}

/// Serves one session over standard input and output, until the client closes it.
///
/// # Errors
/// See [`serve`].
pub async fn serve_stdio(server: Server) -> Result<(), ServeError> {
    serve(server, tokio::io::stdin(), tokio::io::stdout(), std::future::pending()).await
}

/// Serves one session over a reader and a writer, until the client closes it or `stop` is ready. Then calls under way end
/// as disconnected, their after-call events are delivered, and children are shut down.
///
/// # Errors
/// When an upstream can't be started, there is nothing to serve, or the client can't be read.
pub async fn serve(
    server: Server,
    reader: impl AsyncRead + Unpin + Send,
    writer: impl AsyncWrite + Unpin + Send + 'static,
    stop: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    if server.upstreams.is_empty() && server.native.is_empty() {
        return Err(ServeError::Nothing);
    }
    let (client, mut messages) = mpsc::channel(CLIENT_QUEUE);
    let mut written = tokio::spawn(async move {
        let messages = stream::poll_fn(|context| messages.poll_recv(context));
        if let Err(error) = write_lines(writer, Box::pin(messages)).await {
            tracing::warn!(%error, "the client does not read any more");
        }
    });

    let dispatcher = server.dispatcher.clone();
    let (session, mut readers) = open(server, client)?;
    let mut work = JoinSet::new();
    let ended = tokio::select! {
        ended = hear(&session, reader, &mut work) => ended,
        () = stop => Ok(()),
    };
    work.shutdown().await;
    dispatcher.drain(DRAIN).await;
    session.fleet().close().await;
    readers.shutdown().await;
    drop(session);
    // Whatever else would hold the session ends with its connections; a client that does not read must not hold the end up.
    if tokio::time::timeout(LAST_WORDS, &mut written).await.is_err() {
        written.abort();
    }
    ended
}

/// Opens every upstream and hears what each of them says.
fn open(server: Server, client: mpsc::Sender<callgate_core::Json>) -> Result<(Arc<Session>, JoinSet<()>), ServeError> {
    let mut behind = Vec::new();
    let mut readers = Vec::new();
    let mut connections = Vec::new();
    for upstream in server.upstreams {
        let name = upstream.name.clone();
        let (upstream, reader) = upstream.open().map_err(|source| ServeError::Start { upstream: name, source })?;
        connections.push(upstream.connection.clone());
        behind.push(upstream);
        readers.push(reader);
    }
    if !server.native.is_empty() {
        let (connection, reader) = builtin::open(&server.name, &server.version);
        connections.push(connection);
        readers.push(reader);
    }
    let inventory = Inventory::new(behind, server.native, server.dispatcher.rules().clone());
    let fleet = Fleet::new(connections, server.name, server.version);
    let session = Arc::new(Session::new(server.caller, server.dispatcher, inventory, fleet, client));
    let mut running = JoinSet::new();
    for reader in readers {
        running.spawn(reader.run(Arc::new(Listening(session.clone()))));
    }
    Ok((session, running))
}

async fn hear(
    session: &Arc<Session>,
    reader: impl AsyncRead + Unpin + Send,
    work: &mut JoinSet<()>,
) -> Result<(), ServeError> {
    let mut reader = BufReader::new(reader);
    while let Some(line) = read_line(&mut reader, MAX_CLIENT_LINE).await.map_err(ServeError::Read)? {
        // What is done is taken away, so that a long session does not keep it.
        while work.try_join_next().is_some() {}
        if work.len() >= MAX_WORK && tokio::time::timeout(UNREAD, work.join_next()).await.is_err() {
            tracing::error!("the client does not read its answers: the session ends");
            return Ok(());
        }
        session.hear(line, work);
    }
    Ok(())
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("caller", &self.caller)
            .field("upstreams", &self.upstreams)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
