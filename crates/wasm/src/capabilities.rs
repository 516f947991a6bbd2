//! What a guest may call. A component imports what it uses; what it was not granted answers with an error value.

mod config;
mod http;
mod log;
mod state;
mod wasi;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use callgate_core::Json;

pub(crate) use http::{NotGranted, deny as deny_http, is_http};
pub(crate) use log::LISTENER_LOG;
pub(crate) use state::StateAccess;
pub(crate) use wasi::{INTERFACES as WASI_INTERFACES, context};

/// A host interface that has to be granted by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// `callgate:host/state`: values that outlive an event.
    State,
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 1] = [Self::State];

    /// The name that configurations use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::State => "state",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no capability of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no capability '{0}'; there is: state")]
pub struct UnknownCapability(pub String);

impl FromStr for Capability {
    type Err = UnknownCapability;

    fn from_str(name: &str) -> Result<Self, UnknownCapability> {
        Self::ALL
            .into_iter()
            .find(|capability| capability.as_str() == name)
            .ok_or_else(|| UnknownCapability(name.to_owned()))
    }
}

/// What the host functions of one listener work with, the same for all its events.
#[derive(Clone, Debug)]
pub(crate) struct Grants {
    pub(crate) listener: Arc<str>,
    pub(crate) config: Arc<BTreeMap<String, Json>>,
    pub(crate) state: StateAccess,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_capability_is_refused_and_the_known_ones_are_named() {
        assert_eq!("state".parse(), Ok(Capability::State));
        let error = "State".parse::<Capability>().unwrap_err();
        for capability in Capability::ALL {
            assert!(error.to_string().contains(capability.as_str()));
        }
    }
}
