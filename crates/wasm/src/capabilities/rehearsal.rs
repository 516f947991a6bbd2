//! Host functions while an instance is made ready before its event. Nothing of it may reach anybody: requests are refused,
//! lines are dropped, and state is an empty store of the instance's own.

use std::sync::Arc;

use callgate_core::StateStore;
use callgate_core::state::MemoryState;

use crate::event::{EventState, Stage};

/// The store of a rehearsal, made when it is first used.
#[derive(Debug, Default)]
pub(super) struct Scratch(Option<Arc<MemoryState>>);

impl Scratch {
    pub(super) fn store(&mut self) -> Arc<dyn StateStore> {
        self.0.get_or_insert_default().clone()
    }
}

impl EventState {
    /// Whether the instance is being made ready, for nobody in particular.
    pub(super) fn is_rehearsal(&self) -> bool {
        self.stage() == Stage::Preparation
    }
}
