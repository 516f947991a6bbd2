//! Hears what an upstream says.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use tokio::io::{AsyncRead, BufReader};

use super::Connection;
use crate::edit;
use crate::envelope::{Id, Message, Notification, Request, read_upstream};
use crate::lines::{Line, MAX_UPSTREAM_LINE, read_line};

/// Who hears what an upstream says of itself. Each message is heard before the next one is read, so that what comes before
/// a reply is passed on before it.
#[async_trait]
pub trait Incoming: Send + Sync {
    /// The upstream asks something.
    async fn request(&self, from: &Arc<Connection>, request: Request);
    /// The upstream tells something.
    async fn notification(&self, from: &Arc<Connection>, notification: Notification);
}

/// The listening end of a connection.
pub struct Reader {
    input: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    connection: Arc<Connection>,
}

impl Reader {
    pub(super) fn new(input: Box<dyn AsyncRead + Send + Unpin>, connection: Arc<Connection>) -> Self {
        Self { input: BufReader::new(input), connection }
    }

    /// Hears the upstream until it ends. Then every request under way is lost.
    pub async fn run(mut self, incoming: Arc<dyn Incoming>) {
        let upstream = self.connection.name.clone();
        loop {
            match read_line(&mut self.input, MAX_UPSTREAM_LINE).await {
                Ok(Some(Line::Text(line))) => self.connection.hear(&line, &incoming).await,
                Ok(Some(Line::TooLong(answers))) => {
                    tracing::error!(upstream, "a message of more than {MAX_UPSTREAM_LINE} bytes");
                    match answers {
                        Some(id) => self.connection.pending.lose_one(&id),
                        // Nobody knows which request it answers, and whoever waits for it would wait for ever.
                        None => break,
                    }
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(upstream, %error, "the upstream can't be heard any more");
                    break;
                }
            }
        }
        tracing::info!(upstream, "the upstream has ended");
        self.connection.pending.lose();
    }
}

impl Connection {
    async fn hear(self: &Arc<Self>, line: &[u8], incoming: &Arc<dyn Incoming>) {
        let upstream = &self.name;
        match read_upstream(line) {
            Some(Message::Response(response)) => {
                let id = response.id.clone();
                if !self.pending.deliver(response) {
                    tracing::debug!(upstream, ?id, "a reply that nobody waits for is dropped");
                }
            }
            Some(Message::Request(request)) => incoming.request(self, request).await,
            Some(Message::Notification(notification)) if self.is_stray_progress(&notification) => {
                tracing::debug!(upstream, "progress that nobody waits for is dropped");
            }
            Some(Message::Notification(notification)) => {
                incoming.notification(self, notification).await;
            }
            None if line.trim_ascii().is_empty() => {}
            None => {
                tracing::warn!(upstream, line = %excerpt(line), "a line that is no message is dropped");
                let id = std::str::from_utf8(line).ok().and_then(|text| edit::get(text.trim(), &["id"]));
                if let Some(id) = id.and_then(Id::read) {
                    self.pending.lose_one(&id);
                }
            }
        }
    }

    /// Progress of a call that is over confuses clients, and of one that never asked for it as well.
    fn is_stray_progress(&self, notification: &Notification) -> bool {
        notification.method == "notifications/progress" && {
            let token = edit::get(notification.line.as_str(), &["params", "progressToken"]).and_then(Id::read);
            !token.is_some_and(|token| self.pending.expects_progress(&token))
        }
    }
}

fn excerpt(line: &[u8]) -> String {
    String::from_utf8_lossy(line.get(..200).unwrap_or(line)).into_owned()
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("upstream", &self.connection.name).finish_non_exhaustive()
    }
}
