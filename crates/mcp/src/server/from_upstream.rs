//! What an upstream says of itself, and how the client hears it.

use std::sync::Arc;

use async_trait::async_trait;

use super::announcing;
use super::session::Session;
use crate::envelope::{self, Notification, Request, code};
use crate::tasks;
use crate::upstream::{Connection, Incoming};

/// A session that listens to its upstreams.
pub(super) struct Listening(pub(super) Arc<Session>);

#[async_trait]
impl Incoming for Listening {
    async fn request(&self, from: &Arc<Connection>, request: Request) {
        match self.0.fleet().asked_by(from, &request) {
            Some(line) => self.0.say(line).await,
            None => {
                let message = "a request with this id is under way";
                from.send(envelope::error(Some(&request.id), code::INVALID_REQUEST, message));
            }
        }
    }

    async fn notification(&self, from: &Arc<Connection>, notification: Notification) {
        let Notification { method, line } = notification;
        match method.as_str() {
            "notifications/cancelled" => {
                if let Some(line) = self.0.fleet().cancelled_by(from, &line) {
                    self.0.say(line).await;
                }
            }
            "notifications/tools/list_changed" => announcing::upstream_changed(&self.0, line),
            // Nobody has a task (W5).
            _ if tasks::is_task_method(&method) => tracing::debug!(method, "a notification about tasks is dropped"),
            _ => self.0.say(line).await,
        }
    }
}
