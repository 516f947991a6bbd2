//! The one file that says who calls, which servers are behind the gateway, and who listens.

mod load;
mod resolve;
mod document;
mod bounded;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use callgate_core::Caller;
use callgate_core::json::Json;
use callgate_core::permissions::Permissions;
use callgate_core::registry::{Exposure, Reach};
use callgate_core::subscription::{BreakerLimits, Delivery};
use callgate_wasm::{Capability, Hook, Pin, SandboxLimits};

pub use document::json_schema;
pub use source::{Problem, Problems, Source};

/// A configuration without contradictions. Paths are absolute or relative to the working directory of the process.
#[derive(Debug)]
pub struct Config {
    /// The file that it was read from, to say where something is.
    pub source: Source,
    /// The identities that the file describes, by name.
    pub callers: BTreeMap<String, Arc<Caller>>,
    /// Who a stdio session runs as; none when nobody is signed in.
    pub stdio_caller: Option<Arc<Caller>>,
    /// Where listeners' values are kept.
    pub state: StateLocation,
    /// The servers behind the gateway, in the order of their names.
    pub upstreams: Vec<Upstream>,
    /// Which roles a section permits for which method.
    pub permissions: Permissions,
    /// Where each permission is written.
    pub permission_lines: Vec<PermissionLine>,
    /// The listeners in the order in which they are asked.
    pub listeners: Vec<ListenerConfig>,
}

/// Where listeners' values are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateLocation {
    /// In a SQLite file, which several processes may share.
    File(PathBuf),
    /// In the memory of the process, gone with it.
    Memory,
}

/// One server behind the gateway.
#[derive(Clone, Debug)]
pub struct Upstream {
    /// Its name in the configuration.
    pub name: String,
    /// The line of its table.
    pub line: usize,
    /// How to start it.
    pub command: Command,
    /// What the base decision says about tools that the configuration does not name.
    pub unlisted: Exposure,
    /// The section of its rows where a tool has none of its own.
    pub section: String,
    /// What is put before the names of its tools.
    pub prefix: Option<String>,
    /// What the configuration says about single tools, by the server's own name for them.
    pub tools: BTreeMap<String, ToolConfig>,
}

/// How to start a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program: a name to look up, or a path.
    pub program: String,
    /// What it gets.
    pub arguments: Vec<String>,
    /// Variables that are set on top of the inherited environment.
    pub environment: BTreeMap<String, String>,
    /// Its working directory; none for that of this process.
    pub directory: Option<PathBuf>,
}

/// What the configuration says about one tool of an upstream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolConfig {
    /// The line of its table.
    pub line: usize,
    /// The section of its row; none for that of the upstream.
    pub section: Option<String>,
    /// Whether it can reach what other rows hide.
    pub reach: Reach,
}

/// Where a permission is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PermissionLine {
    /// The line of the entry.
    pub line: usize,
    /// The section that permits.
    pub section: String,
    /// The method that is permitted.
    pub method: String,
    /// The roles that it is permitted to.
    pub roles: Vec<String>,
}

/// One listener.
#[derive(Clone, Debug)]
pub struct ListenerConfig {
    /// Its name: the scope of its state, and what records call it.
    pub name: String,
    /// The line of its table.
    pub line: usize,
    /// The component's file.
    pub component: PathBuf,
    /// The line that names the file.
    pub component_line: usize,
    /// The digest that the file must have.
    pub pin: Option<Pin>,
    /// The hooks that are used, each with its line; none for all that the component has.
    pub hooks: Option<Vec<(Hook, usize)>>,
    /// The host interfaces that it may use besides log and config.
    pub capabilities: BTreeSet<Capability>,
    /// When after-call events are delivered.
    pub delivery: Delivery,
    /// What one event may use.
    pub limits: SandboxLimits,
    /// When it is no longer asked because it keeps failing.
    pub breaker: BreakerLimits,
    /// Its own values.
    pub values: BTreeMap<String, Json>,
}
