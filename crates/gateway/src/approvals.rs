//! Tickets by which an operator lets one denied call through.
//!
//! A listener that wants an approval denies the call, names a ticket in its reason, and keeps the record of the request in
//! its own scope of the state store, under `approval/` and the ticket. The record is a JSON object; `state` goes from
//! `pending` to `approved` here and nowhere else, and everything after that is the listener's.

use std::time::{Duration, SystemTime};

use callgate_core::StateStore;
use callgate_core::state::StateError;
use serde::Deserialize;
use serde_json::Value;

use crate::sqlite_state::{SqliteState, StoredValue};

/// What the keys of tickets begin with.
pub const PREFIX: &str = "approval/";

/// One call that waits for an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The listener that wants the approval.
    pub listener: String,
    /// The ticket's name.
    pub name: String,
    /// What it is for.
    pub request: Request,
    /// When it is no longer good; none when it stays.
    pub expires: Option<SystemTime>,
    text: String,
}

/// What the record says. Other members are the listener's own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Request {
    /// `pending`, `approved`, or a word of the listener's own for what comes after.
    pub state: String,
    /// The tool's name.
    pub tool: String,
    /// Who calls it.
    pub subject: String,
    /// SHA-256 of the canonical arguments.
    pub arguments_digest: String,
    /// The arguments, where they are short enough to be read.
    pub arguments: Option<String>,
    /// When request and approval are no longer good, in milliseconds since 1970.
    pub expires_ms: Option<u64>,
}

/// Why a ticket was not approved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ApprovalError {
    /// No listener keeps it.
    #[error("there is no ticket {0}: it has expired, was used up, or is kept in another state store")]
    Unknown(String),
    /// Several listeners keep a ticket of that name.
    #[error("several listeners have a ticket {name}: choose one of {listeners} with --listener")]
    Ambiguous {
        /// The ticket.
        name: String,
        /// Who.
        listeners: String,
    },
    /// It does not wait any more.
    #[error("ticket {name} of listener '{listener}' does not wait for an approval: it is {state}")]
    NotPending {
        /// The ticket.
        name: String,
        /// Whose it is.
        listener: String,
        /// What became of it.
        state: String,
    },
    /// It is too late.
    #[error("ticket {0} has expired: repeat the call to ask again")]
    Expired(String),
    /// Somebody else changed it.
    #[error("ticket {0} was changed meanwhile: look at it again")]
    Changed(String),
    /// The record can not be read.
    #[error("{key} of listener '{listener}' is no record of a request: {reason}")]
    Unreadable {
        /// The record's key.
        key: String,
        /// Whose it is.
        listener: String,
        /// Why.
        reason: String,
    },
    /// The store does not answer.
    #[error(transparent)]
    State(#[from] StateError),
}

/// All tickets of these listeners.
///
/// # Errors
/// When the store does not answer or a record can not be read.
pub async fn tickets(store: &SqliteState, listeners: &[&str]) -> Result<Vec<Ticket>, ApprovalError> {
    let mut tickets = Vec::new();
    for listener in listeners {
        for stored in store.values(listener, PREFIX).await? {
            tickets.push(Ticket::read(listener, stored)?);
        }
    }
    Ok(tickets)
}

/// Approves the ticket of that name, which one of these listeners keeps.
///
/// # Errors
/// When there is no such ticket, it does not wait for an approval, or it has expired.
pub async fn approve(store: &SqliteState, listeners: &[&str], name: &str) -> Result<Ticket, ApprovalError> {
    let mut named: Vec<_> = tickets(store, listeners).await?.into_iter().filter(|it| it.name == name).collect();
    let Some(ticket) = named.pop() else { return Err(ApprovalError::Unknown(name.to_owned())) };
    if !named.is_empty() {
        let listeners: Vec<_> = named.iter().chain([&ticket]).map(|ticket| ticket.listener.as_str()).collect();
        return Err(ApprovalError::Ambiguous { name: name.to_owned(), listeners: listeners.join(", ") });
    }
    if ticket.request.state != "pending" {
        let Ticket { listener, request: Request { state, .. }, .. } = ticket;
        return Err(ApprovalError::NotPending { name: name.to_owned(), listener, state });
    }
    let left = ticket.time_left();
    if left.is_some_and(|left| left.is_zero()) {
        return Err(ApprovalError::Expired(name.to_owned()));
    }
    let approved = ticket.approved()?;
    let key = format!("{PREFIX}{name}");
    // Only the record that was just read is replaced, so an operator never approves what another process made of it.
    let swapped = store.compare_and_swap(&ticket.listener, &key, Some(&ticket.text), Some(&approved), left).await?;
    if swapped { Ok(ticket) } else { Err(ApprovalError::Changed(name.to_owned())) }
}

impl Ticket {
    fn read(listener: &str, stored: StoredValue) -> Result<Self, ApprovalError> {
        let request: Request = serde_json::from_str(&stored.value)
            .map_err(|error| unreadable(listener, &stored.key, &error.to_string()))?;
        let record = request.expires_ms.map(|ms| SystemTime::UNIX_EPOCH + Duration::from_millis(ms));
        Ok(Self {
            listener: listener.to_owned(),
            name: stored.key.trim_start_matches(PREFIX).to_owned(),
            request,
            expires: record.or(stored.expires),
            text: stored.value,
        })
    }

    /// Whether it still waits for an operator.
    pub fn is_pending(&self) -> bool {
        self.request.state == "pending" && !self.time_left().is_some_and(|left| left.is_zero())
    }

    fn time_left(&self) -> Option<Duration> {
        self.expires.map(|then| then.duration_since(SystemTime::now()).unwrap_or(Duration::ZERO))
    }

    /// The record with another state and every other member as the listener wrote it.
    fn approved(&self) -> Result<String, ApprovalError> {
        let key = format!("{PREFIX}{}", self.name);
        let mut record: Value =
            serde_json::from_str(&self.text).map_err(|error| unreadable(&self.listener, &key, &error.to_string()))?;
        match record.get_mut("state") {
            Some(state) => *state = "approved".into(),
            None => return Err(unreadable(&self.listener, &key, "it has no state")),
        }
        Ok(record.to_string())
    }
}

fn unreadable(listener: &str, key: &str, reason: &str) -> ApprovalError {
    ApprovalError::Unreadable { key: key.into(), listener: listener.into(), reason: reason.into() }
}

#[cfg(test)]
mod tests;
