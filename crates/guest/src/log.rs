//! Lines in the host's log, under the listener's name. They never fail; the host bounds their length and number, and drops
//! them unless the configuration grants `log`.

use std::fmt::Display;

use crate::host::log::{Level, write};

/// For whoever works on the listener.
pub fn debug(message: impl Display) {
    write(Level::Debug, &message.to_string());
}

/// Worth knowing when looking back.
pub fn info(message: impl Display) {
    write(Level::Info, &message.to_string());
}

/// Somebody should look at it.
pub fn warn(message: impl Display) {
    write(Level::Warn, &message.to_string());
}

/// Something did not work.
pub fn error(message: impl Display) {
    write(Level::Error, &message.to_string());
}
