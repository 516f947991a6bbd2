//! Requests that wait for their reply.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use callgate_core::Json;
use tokio::sync::oneshot;

use super::{Connection, Lost};
use crate::edit;
use crate::envelope::{self, Id, Response};

/// How many requests that were given up are remembered; the oldest is forgotten first.
const MAX_ABANDONED: usize = 4_096;

/// What becomes of a request whose reply nobody waits for any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDrop {
    /// The upstream is told that the request is cancelled.
    Cancel,
    /// The upstream is told nothing, or was told already.
    Forget,
}

/// The requests under way on one connection.
#[derive(Debug, Default)]
pub(super) struct Pending(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    lost: bool,
    requests: HashMap<Id, Waiting>,
    /// The client's requests that were given up and may still be replied to, in that order.
    // INVARIANT: such an id names no other request before its reply has come, or that one would get the reply.
    abandoned: VecDeque<Id>,
}

#[derive(Debug)]
struct Waiting {
    reply: oneshot::Sender<Response>,
    progress_token: Option<Id>,
}

/// A reply that has not come yet.
#[derive(Debug)]
pub struct PendingReply {
    connection: Arc<Connection>,
    id: Id,
    reply: oneshot::Receiver<Response>,
    on_drop: OnDrop,
}

impl Pending {
    pub(super) fn register(
        &self,
        connection: &Arc<Connection>,
        id: &Id,
        line: &Json,
        on_drop: OnDrop,
    ) -> Result<PendingReply, Lost> {
        let mut state = self.state();
        if state.lost {
            return Err(Lost::BeforeSending(connection.name.clone()));
        }
        let (sender, reply) = oneshot::channel();
        let progress_token = edit::get(line.as_str(), &["params", "_meta", "progressToken"]).and_then(Id::read);
        state.requests.insert(id.clone(), Waiting { reply: sender, progress_token });
        Ok(PendingReply { connection: connection.clone(), id: id.clone(), reply, on_drop })
    }

    /// Hands a reply to whoever waits for it. False where nobody does.
    pub(super) fn deliver(&self, response: Response) -> bool {
        let waiting = self.state().end(&response.id);
        waiting.is_some_and(|waiting| waiting.reply.send(response).is_ok())
    }

    /// Nobody gets a reply any more.
    pub(super) fn lose(&self) {
        let mut state = self.state();
        state.lost = true;
        state.requests.clear();
        state.abandoned.clear();
    }

    /// The reply to one request can't be read, so it will not come.
    pub(super) fn lose_one(&self, id: &Id) {
        self.state().end(id);
    }

    /// Whether the reply to an earlier request with that id, which was given up, may still come.
    pub(super) fn is_abandoned(&self, id: &Id) -> bool {
        self.state().abandoned.contains(id)
    }

    /// Whether a request under way asked to hear of its progress under that token.
    pub(super) fn expects_progress(&self, token: &Id) -> bool {
        self.state().requests.values().any(|waiting| waiting.progress_token.as_ref() == Some(token))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The reply to a request has come. Gives who waits for it.
    fn end(&mut self, id: &Id) -> Option<Waiting> {
        let waiting = self.requests.remove(id);
        if waiting.is_none() {
            self.abandoned.retain(|abandoned| abandoned != id);
        }
        waiting
    }

    /// Nobody waits for the reply any more. False where it has come already.
    fn abandon(&mut self, id: &Id) -> bool {
        if self.requests.remove(id).is_none() {
            return false;
        }
        // The gateway's own ids are never used again.
        if !id.is_own() {
            if self.abandoned.len() >= MAX_ABANDONED {
                self.abandoned.pop_front();
            }
            self.abandoned.push_back(id.clone());
        }
        true
    }
}

impl PendingReply {
    /// Changes what becomes of the request when the future is dropped.
    pub fn on_drop(&mut self, on_drop: OnDrop) {
        self.on_drop = on_drop;
    }
}

impl Future for PendingReply {
    type Output = Result<Response, Lost>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let reply = Pin::new(&mut self.reply).poll(context);
        reply.map(|reply| {
            self.on_drop = OnDrop::Forget;
            reply.map_err(|_| Lost::AfterSending(self.connection.name.clone()))
        })
    }
}

impl Drop for PendingReply {
    fn drop(&mut self) {
        let waited = self.connection.pending.state().abandon(&self.id);
        if waited && self.on_drop == OnDrop::Cancel {
            let params = format!(r#"{{"requestId":{}}}"#, self.id.raw());
            self.connection.send(envelope::request(None, "notifications/cancelled", Some(&params)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w3_what_is_remembered_of_abandoned_requests_is_bounded() {
        let mut state = State::default();
        let id = |number: usize| Id::read(&number.to_string()).unwrap();
        for number in 0..=MAX_ABANDONED {
            let (reply, _) = oneshot::channel();
            state.requests.insert(id(number), Waiting { reply, progress_token: None });
            assert!(state.abandon(&id(number)));
        }
        assert_eq!(state.abandoned.len(), MAX_ABANDONED);
        assert_eq!(state.abandoned.front(), Some(&id(1)));
        assert!(state.end(&id(1)).is_none());
        assert_eq!(state.abandoned.front(), Some(&id(2)));
    }
}
