//! What a guest may call. A component imports what it uses; what it was not granted answers with an error value.

mod wasi;
mod config;
mod log;
mod state;
mod clocks;
mod folders;
mod http;
mod sockets;

mod refusals;
mod patience;
mod rehearsal;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Instant;

use callgate_core::{Json, StateStore};

pub(crate) use folders::Folders;
pub use folders::{FolderAccess, FolderGrant, FolderProblem};
pub(crate) use http::{HTTP_INTERFACES, HttpClient};
pub use http::{HttpGrant, HttpProblem, Origin, OriginError, PrivateNetworks, RootProblem};
pub(crate) use log::LISTENER_LOG;
pub(crate) use refusals::NotGranted;
pub(crate) use wasi::{INTERFACES as WASI_INTERFACES, context, link};

use http::HttpUse;
use patience::Patience;
use refusals::Refusals;
use rehearsal::Scratch;

/// A host interface that has to be granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Capability {
    /// `callgate:host/log`: lines in the host's log.
    Log,
    /// `callgate:host/state`: values that outlive an event.
    State,
    /// `wasi:clocks/wall-clock`: the time of day.
    Clocks,
    /// `wasi:http`: requests to origins that are named one by one.
    Http,
    /// `wasi:filesystem`: folders that are named one by one.
    Folder,
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Log, Self::State, Self::Clocks, Self::Http, Self::Folder];

    /// Those that are granted by their name alone. The others have parameters.
    pub const NAMED: [Self; 3] = [Self::Log, Self::State, Self::Clocks];

    /// The name that configurations use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::State => "state",
            Self::Clocks => "clocks",
            Self::Http => "http",
            Self::Folder => "folder",
        }
    }

    /// What to write into the configuration, and where, for that listener to have it.
    pub fn how_to_grant(self, listener: &str) -> String {
        match self {
            Self::Log | Self::State | Self::Clocks => {
                format!("write `capabilities = [\"{self}\"]` under `[listener.{listener}]`")
            }
            Self::Http => {
                format!(
                    "write `origins = [\"https://…\"]` with the origins that it needs under `[listener.{listener}.http]`"
                )
            }
            Self::Folder => {
                format!(
                    "write `path = \"…\"`, `as = \"/…\"` and `access = \"read\"` under `[[listener.{listener}.folder]]`"
                )
            }
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no capability of that name that a name alone grants.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no capability '{0}' that its name grants; there is: log, state, clocks")]
pub struct UnknownCapability(pub String);

impl FromStr for Capability {
    type Err = UnknownCapability;

    fn from_str(name: &str) -> Result<Self, UnknownCapability> {
        Self::NAMED
            .into_iter()
            .find(|capability| capability.as_str() == name)
            .ok_or_else(|| UnknownCapability(name.to_owned()))
    }
}

/// What the host functions of one listener work with, the same for all its events.
#[derive(Clone, Debug)]
pub(crate) struct Grants(Arc<Granted>);

/// What [`Grants`] share.
#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) listener: Arc<str>,
    pub(crate) config: BTreeMap<String, Json>,
    /// Those that are granted by their name alone.
    pub(crate) named: BTreeSet<Capability>,
    /// The store behind [`Capability::State`], to be reached with it only.
    pub(crate) state: Arc<dyn StateStore>,
    pub(crate) http: Option<HttpClient>,
    pub(crate) folders: Folders,
    pub(crate) refusals: Refusals,
}

impl Grants {
    pub(crate) fn new(granted: Granted) -> Self {
        Self(Arc::new(granted))
    }

    /// Whether what an event does can be seen outside of the host by other means than its answer, even where its state is
    /// a scratch store and its requests are refused.
    pub(crate) fn touches_outside(&self) -> bool {
        self.folders.any_to_write()
    }

    /// Whether the listener has that.
    pub(crate) fn has(&self, capability: Capability) -> bool {
        match capability {
            Capability::Log | Capability::State | Capability::Clocks => self.named.contains(&capability),
            Capability::Http => self.http.is_some(),
            Capability::Folder => !self.folders.is_empty(),
        }
    }
}

impl Deref for Grants {
    type Target = Granted;

    fn deref(&self) -> &Granted {
        &self.0
    }
}

/// What host functions keep for one event, and for what an instance does ahead of it.
pub(crate) struct Uses {
    /// How long a host call may wait.
    pub(crate) patience: Patience,
    http: HttpUse,
    scratch: Scratch,
}

impl Uses {
    /// Everything is counted from here until the end.
    pub(crate) fn new(grants: &Grants, end: Instant) -> Self {
        Self { patience: Patience::new(end), http: HttpUse::new(grants), scratch: Scratch::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_capability_is_refused_and_the_known_ones_are_named() {
        assert_eq!("state".parse(), Ok(Capability::State));
        for unknown in ["State", "http"] {
            let error = unknown.parse::<Capability>().unwrap_err();
            for capability in Capability::NAMED {
                assert!(error.to_string().contains(capability.as_str()));
            }
        }
    }

    #[test]
    fn how_to_grant_names_the_listeners_own_table() {
        for capability in Capability::ALL {
            let line = capability.how_to_grant("gate");
            assert!(line.contains("[listener.gate"), "{line}");
        }
    }
}
