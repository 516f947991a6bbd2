//! The upstreams of one session, and whose request is whose.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_core::Json;

use super::merge::Offers;
use crate::edit;
use crate::envelope::{Id, Request, Response};
use crate::upstream::Connection;

/// All upstreams of one session, in configured order.
#[derive(Debug)]
pub(super) struct Fleet {
    connections: Vec<Arc<Connection>>,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) offers: Offers,
    /// Requests of upstreams that the client has not answered, by the id that the client knows.
    asked: Mutex<HashMap<Id, Asked>>,
    numbers: AtomicU64,
}

#[derive(Debug)]
struct Asked {
    by: Arc<Connection>,
    id: Id,
    progress_token: Option<Id>,
}

impl Fleet {
    pub(super) fn new(connections: Vec<Arc<Connection>>, name: String, version: String) -> Self {
        let numbers = AtomicU64::new(1);
        Self { connections, name, version, offers: Offers::default(), asked: Mutex::default(), numbers }
    }

    /// All of them.
    pub(super) fn all(&self) -> &[Arc<Connection>] {
        &self.connections
    }

    /// The upstream, if there is one only: then messages pass as they are.
    pub(super) fn only(&self) -> Option<&Arc<Connection>> {
        match self.connections.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether an upstream may still reply to an earlier request with that id.
    pub(super) fn may_still_reply(&self, id: &Id) -> bool {
        self.connections.iter().any(|connection| connection.is_abandoned(id))
    }

    /// Passes a notification of the client on.
    pub(super) fn tell(&self, method: &str, line: &Json) {
        if method == "notifications/progress" && self.only().is_none() {
            let token = edit::get(line.as_str(), &["params", "progressToken"]).and_then(Id::read);
            let asked = self.asked();
            let mut waiting = asked.values().filter(|asked| asked.progress_token == token);
            if let (Some(_), Some(asked)) = (&token, waiting.next()) {
                asked.by.send(line.clone());
            }
            return;
        }
        for connection in &self.connections {
            connection.send(line.clone());
        }
    }

    /// The line that the client gets for a request of an upstream; none where that upstream has asked under the same id
    /// already.
    pub(super) fn asked_by(&self, by: &Arc<Connection>, request: &Request) -> Option<Json> {
        let mut asked = self.asked();
        if asked.values().any(|it| Arc::ptr_eq(&it.by, by) && it.id == request.id) {
            return None;
        }
        let text = request.line.as_str();
        let progress_token = edit::get(text, &["params", "_meta", "progressToken"]).and_then(Id::read);
        let entry = Asked { by: by.clone(), id: request.id.clone(), progress_token };
        if self.only().is_some() {
            asked.insert(request.id.clone(), entry);
            return Some(request.line.clone());
        }
        let id = Id::own(self.numbers.fetch_add(1, Ordering::Relaxed));
        let line = Json::parse(&edit::set(text, &["id"], id.raw().as_str())).ok()?;
        asked.insert(id, entry);
        Some(line)
    }

    /// Passes the client's answer to an upstream's request on, once. False where nothing of the kind was asked.
    pub(super) fn answer(&self, response: &Response) -> bool {
        let Some(asked) = self.asked().remove(&response.id) else { return false };
        let line = match self.only() {
            Some(_) => Some(response.line.clone()),
            None => Json::parse(&edit::set(response.line.as_str(), &["id"], asked.id.raw().as_str())).ok(),
        };
        line.map(|line| asked.by.send(line)).is_some()
    }

    /// The line that tells the client that an upstream does not wait for its answer any more.
    pub(super) fn cancelled_by(&self, by: &Arc<Connection>, line: &Json) -> Option<Json> {
        let id = edit::get(line.as_str(), &["params", "requestId"]).and_then(Id::read)?;
        let mut asked = self.asked();
        let (known, _) = asked.iter().find(|(_, asked)| Arc::ptr_eq(&asked.by, by) && asked.id == id)?;
        let known = known.clone();
        asked.remove(&known);
        match self.only() {
            Some(_) => Some(line.clone()),
            None => Json::parse(&edit::set(line.as_str(), &["params", "requestId"], known.raw().as_str())).ok(),
        }
    }

    /// Ends all connections.
    pub(super) async fn close(&self) {
        futures_util::future::join_all(self.connections.iter().map(|connection| connection.close())).await;
    }

    fn asked(&self) -> MutexGuard<'_, HashMap<Id, Asked>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
