//! Servers behind the gateway: how one is described, and the connection to it.

mod child;
mod connection;
mod tool;
mod transport;

use std::fmt;
use std::sync::Arc;

use callgate_core::Json;
use callgate_core::json::Entry;
use callgate_core::registry::{Exposure, Reach};

pub use connection::{Connection, Incoming, Lost, OnDrop, PendingReply, Reader};
pub use tool::UpstreamTool;
pub use transport::{Command, Transport};

/// A server behind the gateway.
pub struct Upstream {
    /// Names the server in configuration, methods and messages.
    pub name: String,
    /// What its tools' names begin with towards clients; nothing where they keep their names.
    pub prefix: Option<String>,
    /// How it is reached.
    pub transport: Transport,
    /// What governance is told about each of its tools.
    pub govern: Govern,
}

/// Says how a tool is governed, from its own name at its upstream and its definition as the upstream wrote it.
pub type Govern = Arc<dyn Fn(&str, &Json) -> Governance + Send + Sync>;

/// What the host adds to a tool that an upstream lists. Name, method (`<upstream>/<tool>`) and digest follow from the
/// listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Governance {
    /// The section under which permissions for the method are given.
    pub section: Option<String>,
    /// What the base decision says where no permission names the method.
    pub exposure: Exposure,
    /// Whether the tool reaches whatever its arguments name.
    pub reach: Reach,
    /// What listeners are told besides.
    pub attributes: Vec<Entry>,
}

/// An upstream that is connected, and what its tools are governed by.
pub(crate) struct Behind {
    pub(crate) connection: Arc<Connection>,
    pub(crate) prefix: Option<String>,
    pub(crate) govern: Govern,
}

impl Upstream {
    /// Opens the connection.
    pub(crate) fn open(self) -> std::io::Result<(Behind, Reader)> {
        let (connection, reader) = Connection::open(&self.name, self.transport)?;
        Ok((Behind { connection, prefix: self.prefix, govern: self.govern }, reader))
    }
}

impl fmt::Debug for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Behind").field("connection", &self.connection).finish_non_exhaustive()
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream")
            .field("name", &self.name)
            .field("prefix", &self.prefix)
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}
