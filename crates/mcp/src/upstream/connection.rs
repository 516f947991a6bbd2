//! One connection to an upstream: requests and their replies, whoever asked.

mod pending;
mod reader;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use callgate_core::Json;
use futures_util::stream;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;

use super::child::Child;
use super::transport::{Opened, Transport};
use crate::envelope::{self, Id, Response};
use crate::lines::write_lines;

pub use pending::{OnDrop, PendingReply};
pub use reader::{Incoming, Reader};

use pending::Pending;

/// A connection to an upstream. Requests may be under way at the same time; each reply finds its request by id.
#[derive(Debug)]
pub struct Connection {
    name: String,
    /// None once the connection is to be closed.
    messages: Mutex<Option<mpsc::UnboundedSender<Json>>>,
    pending: Arc<Pending>,
    own_requests: AtomicU64,
    child: Mutex<Option<Child>>,
}

/// There is no reply, and none will come.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    /// The connection was gone before the request was sent.
    #[error("the connection to upstream '{0}' is gone")]
    BeforeSending(String),
    /// The connection went, or the reply could not be read, after the request was sent.
    #[error("the connection to upstream '{0}' was lost while a request was under way")]
    AfterSending(String),
}

impl Connection {
    /// Opens the connection to an upstream. Nothing that the upstream says is heard before the reader runs.
    ///
    /// # Errors
    /// When a child can't be started.
    pub fn open(name: &str, transport: Transport) -> std::io::Result<(Arc<Self>, Reader)> {
        Ok(Self::over(name, transport.open()?))
    }

    /// A connection over a stream that is open.
    pub fn over_stream(name: &str, stream: impl AsyncRead + AsyncWrite + Send + 'static) -> (Arc<Self>, Reader) {
        Self::over(name, Opened::stream(stream))
    }

    fn over(name: &str, opened: Opened) -> (Arc<Self>, Reader) {
        let Opened { reader, writer, child } = opened;
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let connection = Arc::new(Self {
            name: name.to_owned(),
            messages: Mutex::new(Some(sender)),
            pending: Arc::default(),
            own_requests: AtomicU64::new(1),
            child: Mutex::new(child),
        });
        // The writer holds no connection: it ends when the last one who could send is gone.
        let (upstream, pending) = (name.to_owned(), connection.pending.clone());
        tokio::spawn(async move {
            let messages = stream::poll_fn(|context| receiver.poll_recv(context));
            if let Err(error) = write_lines(writer, messages).await {
                tracing::warn!(upstream, %error, "the upstream does not read any more");
                pending.lose();
            }
        });
        let reader = Reader::new(reader, connection.clone());
        (connection, reader)
    }

    /// The upstream's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends a message that expects no reply. One that can't be sent any more is dropped.
    pub fn send(&self, message: Json) {
        if let Some(messages) = self.messages.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            // The writer has ended where nobody receives: there is nobody left to tell.
            let _ = messages.send(message);
        }
    }

    /// Sends a request and gives the reply as a future. Dropping the future forgets the request, or cancels it.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn request(self: &Arc<Self>, id: &Id, line: Json, on_drop: OnDrop) -> Result<PendingReply, Lost> {
        let reply = self.pending.register(self, id, &line, on_drop)?;
        self.send(line);
        Ok(reply)
    }

    /// Whether an earlier request with that id was given up and its reply may still come.
    pub(crate) fn is_abandoned(&self, id: &Id) -> bool {
        self.pending.is_abandoned(id)
    }

    /// Sends a request of the gateway's own and waits for the reply.
    ///
    /// # Errors
    /// When the connection is gone or goes.
    pub async fn ask(self: &Arc<Self>, method: &str, params: Option<&str>) -> Result<Response, Lost> {
        let id = self.own_id();
        self.request(&id, envelope::request(Some(&id), method, params), OnDrop::Cancel)?.await
    }

    /// An id that no other request on this connection has.
    pub fn own_id(&self) -> Id {
        Id::own(self.own_requests.fetch_add(1, Ordering::Relaxed))
    }

    /// Ends the connection: requests under way are lost, what is queued is still written, then the upstream hears that no more comes, and a child that
    /// does not end by itself is ended.
    pub async fn close(&self) {
        self.pending.lose();
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).take();
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(child) = child {
            child.end().await;
        }
    }
}
