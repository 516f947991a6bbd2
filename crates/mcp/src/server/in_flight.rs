//! Requests of the client that have no response yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::envelope::Id;
use crate::upstream::Connection;

/// How many requests of one client may be under way at the same time.
const MAX_IN_FLIGHT: usize = 1_024;

/// The requests under way, by id.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<HashMap<Id, Entry>>);

#[derive(Debug)]
struct Entry {
    cancelled: Arc<Notify>,
    forwarded_to: Option<Arc<Connection>>,
}

/// Keeps a request's id taken for as long as the request is under way.
#[derive(Debug)]
pub(super) struct Admission {
    in_flight: Arc<InFlight>,
    id: Id,
    cancelled: Arc<Notify>,
}

/// Why a request is not taken on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NotAdmitted {
    #[error("a request with this id is under way")]
    IdInUse,
    #[error("the request that had this id was given up, and its reply may still come")]
    Abandoned,
    #[error("more than {MAX_IN_FLIGHT} requests are under way")]
    TooMany,
}

impl InFlight {
    pub(super) fn admit(self: &Arc<Self>, id: &Id) -> Result<Admission, NotAdmitted> {
        let mut entries = self.entries();
        if entries.contains_key(id) {
            return Err(NotAdmitted::IdInUse);
        }
        if entries.len() >= MAX_IN_FLIGHT {
            return Err(NotAdmitted::TooMany);
        }
        let cancelled = Arc::<Notify>::default();
        entries.insert(id.clone(), Entry { cancelled: cancelled.clone(), forwarded_to: None });
        Ok(Admission { in_flight: self.clone(), id: id.clone(), cancelled })
    }

    /// Cancels a request. Gives the connection that must hear of it, where the client's own request was passed on as it is.
    pub(super) fn cancel(&self, id: &Id) -> Option<Arc<Connection>> {
        let entries = self.entries();
        let entry = entries.get(id)?;
        entry.cancelled.notify_one();
        entry.forwarded_to.clone()
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Id, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admission {
    /// The request's id.
    pub(super) fn id(&self) -> &Id {
        &self.id
    }

    /// Remembers where the client's own request was passed on to.
    pub(super) fn forwarded_to(&self, connection: &Arc<Connection>) {
        if let Some(entry) = self.in_flight.entries().get_mut(&self.id) {
            entry.forwarded_to = Some(connection.clone());
        }
    }

    /// Ready once the client has cancelled the request.
    pub(super) async fn cancelled(&self) {
        self.cancelled.notified().await;
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        self.in_flight.entries().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w3_an_id_is_taken_until_its_request_is_over() {
        let in_flight = Arc::new(InFlight::default());
        let id = Id::read("1").unwrap();
        let admission = in_flight.admit(&id).unwrap();
        assert_eq!(in_flight.admit(&id).unwrap_err(), NotAdmitted::IdInUse);
        drop(admission);
        assert!(in_flight.admit(&id).is_ok());
    }

    #[test]
    fn there_is_a_limit_to_what_is_under_way() {
        let in_flight = Arc::new(InFlight::default());
        let id = |number: usize| Id::read(&number.to_string()).unwrap();
        let _kept: Vec<_> = (0..MAX_IN_FLIGHT).map(|number| in_flight.admit(&id(number)).unwrap()).collect();
        assert_eq!(in_flight.admit(&id(MAX_IN_FLIGHT)).unwrap_err(), NotAdmitted::TooMany);
    }
}
