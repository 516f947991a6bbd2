//! What a client says, and where it goes.

use std::sync::Arc;

use callgate_core::Json;
use tokio::task::JoinSet;

use super::in_flight::{Admission, NotAdmitted};
use super::session::Session;
use super::{call, listing, merge};
use crate::edit;
use crate::envelope::{self, Id, Message, Notification, Rejection, Request, Response, code, read_client};
use crate::lines::{Line, MAX_CLIENT_LINE};
use crate::tasks;
use crate::upstream::{Connection, OnDrop};

impl Session {
    /// Takes a line from the client. What takes time is done in `work`, so that no request waits behind another one.
    pub(super) fn hear(self: &Arc<Self>, line: Line, work: &mut JoinSet<()>) {
        let message = match line {
            Line::Text(line) if line.trim_ascii().is_empty() => return,
            Line::Text(line) => read_client(&line),
            Line::TooLong(id) => {
                let message = format!("a message of more than {MAX_CLIENT_LINE} bytes");
                Err(Rejection { id, code: code::INVALID_REQUEST, message })
            }
        };
        match message {
            Ok(Message::Request(request)) => self.asked(request, work),
            Ok(Message::Notification(notification)) => self.told(notification, work),
            Ok(Message::Response(response)) => self.answered(&response),
            Err(rejection) => {
                tracing::warn!(reason = rejection.message, "a line of the client is refused");
                self.answer(rejection.response(), work);
            }
        }
    }

    /// Answers without waiting for room, so that the end of the client is seen also while it does not read.
    fn answer(self: &Arc<Self>, response: Json, work: &mut JoinSet<()>) {
        let session = self.clone();
        work.spawn(async move { session.say(response).await });
    }

    fn asked(self: &Arc<Self>, request: Request, work: &mut JoinSet<()>) {
        // An id stays admitted until its request is given up, so that none is given up between the two looks.
        let admitted = self.in_flight().admit(&request.id).and_then(|admission| {
            let late = self.fleet().may_still_reply(&request.id);
            if late { Err(NotAdmitted::Abandoned) } else { Ok(admission) }
        });
        let admission = match admitted {
            Ok(admission) => admission,
            Err(reason) => {
                // An error under an id that is in use would pass for the answer to the other request.
                let id = (reason != NotAdmitted::IdInUse).then_some(&request.id);
                return self.answer(envelope::error(id, code::INVALID_REQUEST, &reason.to_string()), work);
            }
        };
        if tasks::is_task_method(&request.method) {
            return self.answer(envelope::error(Some(&request.id), code::METHOD_NOT_FOUND, "Method not found"), work);
        }
        let line = tasks::taken_out_of_request(&request.line, &request.method);
        let request = Request { line, ..request };
        let session = self.clone();
        match request.method.as_str() {
            "tools/call" => drop(work.spawn(call::run(session, request, admission))),
            "tools/list" => drop(work.spawn(listing::run(session, request, admission))),
            _ => match self.fleet().only() {
                Some(upstream) => self.forward(upstream, &request, admission, work),
                None => drop(work.spawn(merge::run(session, request, admission))),
            },
        }
    }

    /// Passes a request on as it is, and what comes back likewise.
    fn forward(
        self: &Arc<Self>,
        upstream: &Arc<Connection>,
        request: &Request,
        admission: Admission,
        work: &mut JoinSet<()>,
    ) {
        let offer = matches!(request.method.as_str(), "initialize" | "server/discover");
        admission.forwarded_to(upstream);
        // Where the client cancels the request, its own words go to the upstream.
        let reply = match upstream.request(&request.id, request.line.clone(), OnDrop::Forget) {
            Ok(reply) => reply,
            Err(lost) => return self.answer(lost_response(&request.id, &lost), work),
        };
        let session = self.clone();
        work.spawn(async move {
            let reply = tokio::select! {
                reply = reply => reply,
                () = admission.cancelled() => return,
            };
            session
                .say(match reply {
                    Ok(response) if offer => tasks::taken_out_of_offer(&response.line),
                    Ok(response) => response.line,
                    Err(lost) => lost_response(admission.id(), &lost),
                })
                .await;
        });
    }

    fn told(self: &Arc<Self>, notification: Notification, work: &mut JoinSet<()>) {
        let Notification { method, line } = notification;
        match method.as_str() {
            "notifications/cancelled" => {
                let id = edit::get(line.as_str(), &["params", "requestId"]).and_then(Id::read);
                // One that names no request under way could name one of the gateway's own, and goes nowhere.
                if let Some(upstream) = id.and_then(|id| self.in_flight().cancel(&id)) {
                    upstream.send(line);
                }
            }
            "notifications/initialized" => {
                self.fleet().tell(&method, &line);
                if self.caller().is_some() {
                    let session = self.clone();
                    work.spawn(async move {
                        // A failure is logged where it happens, and the next listing or call tries again.
                        let _ = session.inventory().refresh(None).await;
                    });
                }
            }
            // A call without an id would run, and nobody would hear how it ended (W3).
            _ if method.starts_with("tools/") || tasks::is_task_method(&method) => {
                tracing::warn!(method, "a notification that should be a request is dropped");
            }
            _ => self.fleet().tell(&method, &line),
        }
    }

    /// Passes the answer to an upstream's request on. One that answers nothing that was asked could be made up.
    fn answered(&self, response: &Response) {
        if !self.fleet().answer(response) {
            tracing::warn!(id = ?response.id, "a response to a request that was not made is dropped");
        }
    }
}

/// The response to a request whose upstream is gone.
pub(super) fn lost_response(id: &Id, lost: &crate::upstream::Lost) -> Json {
    tracing::warn!(%lost, ?id, "a request has no reply");
    envelope::error(Some(id), code::INTERNAL, "The server behind the gateway is gone.")
}
