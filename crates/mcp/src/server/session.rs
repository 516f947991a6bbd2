//! What one session has: who it runs for, what is under way, and the way back to the client.

use std::sync::Arc;

use callgate_core::{Caller, Dispatcher, Json};
use tokio::sync::mpsc;

use super::announcing::Announcements;
use super::fleet::Fleet;
use super::in_flight::InFlight;
use crate::inventory::Inventory;

/// One session of one client.
#[derive(Debug)]
pub(super) struct Session {
    caller: Option<Arc<Caller>>,
    dispatcher: Dispatcher,
    inventory: Inventory,
    fleet: Fleet,
    in_flight: Arc<InFlight>,
    announcements: Announcements,
    client: mpsc::Sender<Json>,
}

impl Session {
    pub(super) fn new(
        caller: Option<Arc<Caller>>,
        dispatcher: Dispatcher,
        inventory: Inventory,
        fleet: Fleet,
        client: mpsc::Sender<Json>,
    ) -> Self {
        Self {
            caller,
            dispatcher,
            inventory,
            fleet,
            in_flight: Arc::default(),
            announcements: Announcements::default(),
            client,
        }
    }

    pub(super) fn caller(&self) -> Option<&Arc<Caller>> {
        self.caller.as_ref()
    }

    pub(super) fn dispatcher(&self) -> &Dispatcher {
        &self.dispatcher
    }

    pub(super) fn inventory(&self) -> &Inventory {
        &self.inventory
    }

    pub(super) fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    pub(super) fn in_flight(&self) -> &Arc<InFlight> {
        &self.in_flight
    }

    pub(super) fn announcements(&self) -> &Announcements {
        &self.announcements
    }

    /// Sends the client a message, once there is room for it.
    pub(super) async fn say(&self, message: Json) {
        // Nobody is left to hear it where this fails.
        let _ = self.client.send(message).await;
    }
}
