//! How an upstream is reached.

use std::fmt;
use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncWrite};

use super::child::{self, Child};

/// How an upstream is reached.
pub enum Transport {
    /// A child process that speaks over its standard input and output.
    Child(Command),
    /// A connection that exists already.
    Stream {
        /// What the upstream says.
        reader: Box<dyn AsyncRead + Send + Unpin>,
        /// What the upstream hears.
        writer: Box<dyn AsyncWrite + Send + Unpin>,
    },
}

/// A process to start. No shell is involved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Environment variables besides those that it inherits.
    pub environment: Vec<(String, String)>,
    /// Where it runs; the gateway's own directory where that is not said.
    pub directory: Option<PathBuf>,
}

/// A transport that is open.
pub(super) struct Opened {
    pub(super) reader: Box<dyn AsyncRead + Send + Unpin>,
    pub(super) writer: Box<dyn AsyncWrite + Send + Unpin>,
    pub(super) child: Option<Child>,
}

impl Opened {
    pub(super) fn stream(stream: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self { reader: Box::new(reader), writer: Box::new(writer), child: None }
    }
}

impl Transport {
    /// A connection in both directions that exists already.
    pub fn stream(stream: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        let Opened { reader, writer, .. } = Opened::stream(stream);
        Self::Stream { reader, writer }
    }

    /// Opens the transport: starts the child.
    ///
    /// # Errors
    /// When the child can't be started.
    pub(super) fn open(self) -> std::io::Result<Opened> {
        match self {
            Self::Child(command) => child::start(&command),
            Self::Stream { reader, writer } => Ok(Opened { reader, writer, child: None }),
        }
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Child(command) => f.debug_tuple("Child").field(command).finish(),
            Self::Stream { .. } => f.write_str("Stream"),
        }
    }
}
