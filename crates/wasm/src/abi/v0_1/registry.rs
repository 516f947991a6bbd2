//! `callgate:listener/registry`: the rows under decision, for the grant hook alone.

use std::sync::Arc;

use callgate_core::registry::Row;

use crate::event::{EventState, Stage};

use super::bindings::callgate::listener::registry::Host;
use super::bindings::callgate::listener::types;
use super::lower;

/// The most rows that one call gives.
const MOST_ROWS: usize = 1_000;

/// A hook other than the grant hook asked for rows.
#[derive(Debug, thiserror::Error)]
#[error("only the grant hook may call callgate:listener/registry")]
pub(crate) struct NoRegistry;

impl EventState {
    fn under_decision(&self) -> wasmtime::Result<&[Arc<Row>]> {
        match (&self.registry, self.stage()) {
            (Some(registry), _) => Ok(registry.rows()),
            // An instance that is not for a grant decision may look before its event, and there is nothing to see.
            (None, Stage::Preparation) => Ok(&[]),
            (None, Stage::Event) => Err(NoRegistry.into()),
        }
    }
}

impl types::Host for EventState {}

impl Host for EventState {
    async fn count(&mut self) -> wasmtime::Result<u32> {
        Ok(u32::try_from(self.under_decision()?.len()).unwrap_or(u32::MAX))
    }

    async fn find(&mut self, identifier: String) -> wasmtime::Result<Option<types::Row>> {
        self.under_decision()?;
        let found = self.registry.as_ref().and_then(|registry| registry.find(&identifier));
        Ok(found.map(|tool| lower::row(&tool.row)))
    }

    async fn rows(&mut self, start: u32, length: u32) -> wasmtime::Result<Vec<types::Row>> {
        let index = |number| usize::try_from(number).unwrap_or(usize::MAX);
        let rows = self.under_decision()?.iter();
        Ok(rows.skip(index(start)).take(index(length).min(MOST_ROWS)).map(|row| lower::row(row)).collect())
    }
}
