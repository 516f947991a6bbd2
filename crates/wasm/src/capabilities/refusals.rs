//! What a listener was refused. The log is told once of each kind, with the line that would grant it.

use std::fmt;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::event::EventState;

use super::{Capability, Grants};

/// A guest called a function that has no error value to return, and was not granted it. Ends the event.
#[derive(Debug, thiserror::Error)]
#[error("called {function}, which the listener was not granted; to grant it, {how}")]
pub(crate) struct NotGranted {
    pub(super) function: &'static str,
    pub(super) how: String,
}

/// Something that a guest asked for and did not get.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refused<'r> {
    /// An interface that it was not granted.
    Capability(Capability),
    /// A socket of its own or the address behind a name.
    Sockets,
    /// A request to an origin that is not in its list.
    Origin(&'r str),
    /// A request to an origin of its list that is in a private network, or resolves to it.
    PrivateNetwork(&'r str),
    /// A request to an origin that resolves to addresses that are nobody's.
    Nowhere(&'r str),
}

/// The kinds that the log was told of.
#[derive(Debug, Default)]
pub(crate) struct Refusals(AtomicU8);

impl Refusals {
    /// Tells the log, unless it was told of that kind before.
    pub(crate) fn tell(&self, listener: &str, refused: Refused<'_>) {
        let bit = 1_u8 << refused.kind();
        if self.0.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
            tracing::warn!(listener, "{}", Told { listener, refused });
        }
    }
}

impl Refused<'_> {
    fn kind(self) -> u8 {
        match self {
            Self::Capability(Capability::Log) => 0,
            Self::Capability(Capability::State) => 1,
            Self::Capability(Capability::Clocks) => 2,
            Self::Capability(Capability::Http) => 3,
            Self::Capability(Capability::Folder) => 4,
            Self::Sockets => 5,
            Self::Origin(_) => 6,
            Self::PrivateNetwork(_) | Self::Nowhere(_) => 7,
        }
    }
}

/// A refusal as a sentence.
struct Told<'r> {
    listener: &'r str,
    refused: Refused<'r>,
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let listener = self.listener;
        match self.refused {
            Refused::Capability(capability) => {
                let how = capability.how_to_grant(listener);
                write!(f, "the listener asked for {capability}, which it was not granted; to grant it, {how}")
            }
            Refused::Sockets => f.write_str(
                "the listener asked for a socket or for the address of a name; no listener can have these, but requests \
                 to single origins can be granted",
            )
            .and_then(|()| write!(f, ": {}", Capability::Http.how_to_grant(listener))),
            Refused::Origin(origin) => write!(
                f,
                "the listener asked for {origin}, which it was not granted; to grant it, add it to `origins` under \
                 `[listener.{listener}.http]`"
            ),
            Refused::PrivateNetwork(origin) => write!(
                f,
                "the listener asked for {origin}, which is in a private network; to grant it, write `private-networks = \
                 true` under `[listener.{listener}.http]`"
            ),
            Refused::Nowhere(origin) => {
                write!(f, "the listener asked for {origin}, whose addresses no host can have; correct its name")
            }
        }
    }
}

impl Grants {
    /// Whether the listener has that; if not, the log is told.
    pub(super) fn may(&self, capability: Capability) -> bool {
        let has = self.has(capability);
        if !has {
            self.refused(Refused::Capability(capability));
        }
        has
    }

    pub(super) fn refused(&self, refused: Refused<'_>) {
        self.refusals.tell(&self.listener, refused);
    }
}

impl EventState {
    /// An error that ends the event, unless the listener has that.
    pub(super) fn need(&self, capability: Capability, function: &'static str) -> Result<(), NotGranted> {
        match self.grants.may(capability) {
            true => Ok(()),
            false => Err(NotGranted { function, how: capability.how_to_grant(&self.grants.listener) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_told_apart() {
        let capabilities = Capability::ALL.map(Refused::Capability);
        let others = [Refused::Sockets, Refused::Origin("a"), Refused::PrivateNetwork("a")];
        let kinds: Vec<_> = capabilities.into_iter().chain(others).map(Refused::kind).collect();
        assert_eq!(kinds, (0..8).collect::<Vec<_>>());
    }
}
