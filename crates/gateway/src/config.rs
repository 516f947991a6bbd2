//! The one file that says who calls, which servers are behind the gateway, and who listens.

mod load;
mod resolve;
mod document;
mod bounded;
mod source;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use callgate_core::Caller;
use callgate_core::json::Json;
use callgate_core::permissions::Permissions;
use callgate_core::registry::{Exposure, Reach};
use callgate_core::subscription::{BreakerLimits, Delivery};
use callgate_wasm::{Capability, FolderGrant, Hook, HttpGrant, Pin, SandboxLimits};

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
    /// How components are compiled.
    pub sandbox: SandboxSettings,
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

/// How components are compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxSettings {
    /// Where compiled code is kept.
    pub cache: CacheLocation,
    /// The largest component, in bytes.
    pub largest_file: u64,
    /// How long one may compile.
    pub compile_deadline: Duration,
    /// How much memory compiling one may take, in bytes.
    pub compile_memory: u64,
}

/// Where compiled code is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheLocation {
    /// In the user's cache folder.
    User,
    /// In that folder.
    Folder(PathBuf),
    /// Nowhere.
    Off,
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
    /// The host interfaces that it may use besides its own values.
    pub capabilities: BTreeSet<Capability>,
    /// Where it may send requests, with the line of that table; none for nowhere.
    pub http: Option<(HttpGrant, usize)>,
    /// The folders that it sees, each with its line.
    pub folders: Vec<(FolderGrant, usize)>,
    /// When after-call events are delivered.
    pub delivery: Delivery,
    /// What one event may use.
    pub limits: SandboxLimits,
    /// When it is no longer asked because it keeps failing.
    pub breaker: BreakerLimits,
    /// Its own values.
    pub values: BTreeMap<String, Json>,
}

impl ListenerConfig {
    /// Whether the listener is granted that.
    pub fn grants(&self, capability: Capability) -> bool {
        match capability {
            Capability::Http => self.http.is_some(),
            Capability::Folder => !self.folders.is_empty(),
            named => self.capabilities.contains(&named),
        }
    }
}
