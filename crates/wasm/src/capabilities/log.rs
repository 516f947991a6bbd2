//! `callgate:host/log`: lines in the host's log, under the listener's name.

use crate::abi::v0_1::bindings::callgate::host::log::{Host, Level};
use crate::event::EventState;
use crate::text::printable;

use super::Capability;

/// The target of everything that a listener writes.
pub(crate) const LISTENER_LOG: &str = "callgate::listener";

/// The most of one line, in characters.
const LINE: usize = 4_096;

impl Host for EventState {
    async fn write(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        if !self.grants.may(Capability::Log) || self.is_rehearsal() {
            return Ok(());
        }
        let line = printable(&message, LINE);
        // An empty line costs as well, so that the number of lines is bounded.
        if self.meter.take_log(line.len().max(16)) {
            write_line(&self.grants.listener, level, &line);
        }
        Ok(())
    }
}

/// Writes a line that is fit for the log.
fn write_line(listener: &str, level: Level, line: &str) {
    match level {
        Level::Debug => tracing::debug!(target: LISTENER_LOG, listener, "{line}"),
        Level::Info => tracing::info!(target: LISTENER_LOG, listener, "{line}"),
        Level::Warn => tracing::warn!(target: LISTENER_LOG, listener, "{line}"),
        Level::Error => tracing::error!(target: LISTENER_LOG, listener, "{line}"),
    }
}
