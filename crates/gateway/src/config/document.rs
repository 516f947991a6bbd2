//! The file as its author writes it. What fits these shapes may still contradict itself.

use std::collections::BTreeMap;
use std::path::PathBuf;

use callgate_core::subscription::Delivery;
use callgate_wasm::{Capability, FolderAccess, Hook};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::bounded::Bounded;

/// The configuration of callgate.
// INVARIANT: `listeners` and `unlisted` have no default, so a file that was cut off is never one with fewer gates.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(title = "callgate.toml")]
pub(super) struct Document {
    /// The names of all listeners in the order in which they are asked. Each has its table `[listener.NAME]`, and each
    /// such table is named here.
    #[schemars(with = "Vec<String>")]
    pub(super) listeners: Vec<Spanned<String>>,
    /// Identities, by name.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, CallerTable>")]
    pub(super) caller: BTreeMap<Spanned<String>, CallerTable>,
    /// The session over standard input and output.
    #[serde(default)]
    pub(super) stdio: StdioTable,
    /// Where listeners' values are kept. Without it they are in `callgate-state.sqlite` beside this file.
    #[schemars(with = "Option<StateTable>")]
    pub(super) state: Option<Spanned<StateTable>>,
    /// How components are compiled and run.
    #[serde(default)]
    pub(super) sandbox: SandboxTable,
    /// MCP servers behind the gateway, by name.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, UpstreamTable>")]
    pub(super) upstream: BTreeMap<Spanned<String>, UpstreamTable>,
    /// Which roles may use what: section, then method, then roles. The method of an upstream's tool is `UPSTREAM/TOOL`,
    /// with the tool's own name.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, BTreeMap<String, Vec<String>>>")]
    pub(super) permissions: BTreeMap<String, BTreeMap<Spanned<String>, Vec<String>>>,
    /// Listeners, by name.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ListenerTable>")]
    pub(super) listener: BTreeMap<Spanned<String>, ListenerTable>,
}

/// One identity. Its subject is its name.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct CallerTable {
    /// What the caller may be treated as.
    #[serde(default)]
    pub(super) roles: Vec<String>,
    /// The organisation that the caller belongs to.
    pub(super) tenant: Option<String>,
    /// What else listeners are told about the caller.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub(super) claims: toml::Table,
}

/// The session over standard input and output.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct StdioTable {
    /// Who the session runs as. Without it nobody is signed in: no tool is shown and every call is refused.
    #[schemars(with = "Option<String>")]
    pub(super) caller: Option<Spanned<String>>,
}

/// Where listeners' values are kept: exactly one of the two.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct StateTable {
    /// A SQLite file, relative to this file.
    pub(super) path: Option<PathBuf>,
    /// In memory: gone when the process ends, and out of the reach of `callgate approve`.
    #[serde(default)]
    pub(super) memory: bool,
}

/// How components are compiled and run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SandboxTable {
    /// The folder that keeps compiled code for the next start, relative to this file; it must be the user's own. False keeps
    /// nothing. Without it, or with true, the folder is `callgate` in the user's cache folder.
    #[serde(default)]
    pub(super) cache: CacheValue,
    /// The largest component, in MiB. Without it 32.
    pub(super) largest_component_mib: Option<Bounded<1, 1024>>,
    /// How long a component may compile, in seconds. Without it 120.
    pub(super) compile_seconds: Option<Bounded<1, 3600>>,
    /// How much memory compiling one component may take, in MiB. Without it 2048.
    pub(super) compile_memory_mib: Option<Bounded<64, 65_536>>,
}

/// A folder, or whether there is to be one.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "`cache` is the path of a folder, true or false")]
pub(super) enum CacheValue {
    /// That folder.
    Folder(PathBuf),
    /// The usual one, or none.
    Switch(bool),
}

impl Default for CacheValue {
    fn default() -> Self {
        Self::Switch(true)
    }
}

/// One MCP server behind the gateway.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct UpstreamTable {
    /// The program and its arguments; no shell is involved. A program with a path is relative to this file.
    #[schemars(with = "Vec<String>")]
    pub(super) command: Spanned<Vec<String>>,
    /// Variables that the server gets on top of the gateway's environment.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// The server's working directory, relative to this file; without it that of the gateway.
    pub(super) cwd: Option<PathBuf>,
    /// What happens to tools that neither a `tool` table nor a permission names.
    pub(super) unlisted: Unlisted,
    /// The section of the server's tools; without it the upstream's name.
    pub(super) section: Option<String>,
    /// What is put before the names of the server's tools. Without it two servers with a tool of one name are refused.
    #[schemars(with = "Option<String>")]
    pub(super) prefix: Option<Spanned<String>>,
    /// Single tools, by the server's own name for them.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ToolTable>")]
    pub(super) tool: BTreeMap<Spanned<String>, ToolTable>,
}

/// What happens to tools that the configuration does not name.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Unlisted {
    /// Every signed-in caller sees them.
    Shown,
    /// Nobody sees them.
    Hidden,
}

/// One tool of a server.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ToolTable {
    /// The section of the tool; without it that of the upstream.
    pub(super) section: Option<String>,
    /// The tool takes a URL, a query or a command, so it can reach what other tools hide. It is hidden unless a permission
    /// names it.
    #[serde(default)]
    pub(super) generic: bool,
}

/// One listener.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ListenerTable {
    /// The component's file, relative to this file.
    #[schemars(with = "PathBuf")]
    pub(super) component: Spanned<PathBuf>,
    /// SHA-256 of the file in hex. Another file is refused.
    #[schemars(with = "Option<String>")]
    pub(super) sha256: Option<Spanned<String>>,
    /// The hooks that are used; without it all that the component has.
    #[schemars(with = "Option<Vec<HookName>>")]
    pub(super) hooks: Option<Vec<Spanned<HookName>>>,
    /// Host interfaces that the component may use besides its own values.
    #[serde(default)]
    pub(super) capabilities: Vec<CapabilityName>,
    /// Where the component may send requests. Without it nowhere.
    #[schemars(with = "Option<HttpTable>")]
    pub(super) http: Option<Spanned<HttpTable>>,
    /// Folders that the component sees. Without one it sees none.
    #[serde(default)]
    #[schemars(with = "Vec<FolderTable>")]
    pub(super) folder: Vec<Spanned<FolderTable>>,
    /// How long one event may take, in milliseconds. Without it 50 for grant and before-call, 250 for after-call.
    pub(super) deadline_ms: Option<Bounded<1, 60_000>>,
    /// When after-call events are delivered.
    #[schemars(with = "Option<DeliveryName>")]
    pub(super) delivery: Option<Spanned<DeliveryName>>,
    /// What one event may use.
    #[serde(default)]
    pub(super) limits: LimitsTable,
    /// When the listener is no longer asked because it keeps failing; what it is not asked has failed.
    #[schemars(with = "Option<BreakerTable>")]
    pub(super) breaker: Option<Spanned<BreakerTable>>,
    /// The listener's own values, which it gets as JSON.
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub(super) config: toml::Table,
}

/// A hook of a listener.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum HookName {
    /// Decides which tools exist for a caller.
    Grant,
    /// Is asked before a call.
    BeforeCall,
    /// Is told after a call.
    AfterCall,
}

/// A host interface that a component may use when its configuration says so.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CapabilityName {
    /// Lines in the host's log.
    Log,
    /// Values that outlive an event, in a scope of the listener's own.
    State,
    /// The time of day.
    Clocks,
}

/// Where a listener may send requests, and how much.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct HttpTable {
    /// The origins, each a scheme, a host and perhaps a port: `https://api.example.com`. Nothing else is reached, whatever
    /// an answer says.
    #[schemars(with = "Vec<String>")]
    pub(super) origins: Vec<Spanned<String>>,
    /// Whether an origin may be in this machine, its network or its cloud. Without it none may, whatever its name resolves
    /// to.
    #[serde(default)]
    pub(super) private_networks: bool,
    /// How long a request and its whole answer may take, in milliseconds; less than the listener's deadline. Without it half
    /// of that.
    pub(super) timeout_ms: Option<Bounded<1, 60_000>>,
    /// The largest body of a request, in KiB. Without it 256.
    pub(super) max_request_kib: Option<Bounded<0, 65_536>>,
    /// The largest body of an answer, in KiB. Without it 1024.
    pub(super) max_response_kib: Option<Bounded<0, 65_536>>,
    /// How many requests one event may send. Without it 8.
    pub(super) max_requests: Option<Bounded<1, 100>>,
    /// A file with certificates in PEM, relative to this file, that servers may be certified with besides those that
    /// browsers know.
    pub(super) root_certificates: Option<PathBuf>,
}

/// A folder that a listener sees.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FolderTable {
    /// The folder, relative to this file. It is opened when the listener is loaded.
    pub(super) path: PathBuf,
    /// What the component calls it: an absolute path.
    #[serde(rename = "as")]
    pub(super) guest: String,
    /// What the component may do there and below.
    pub(super) access: AccessName,
}

/// What a component may do in a folder.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AccessName {
    /// Look at what is there.
    Read,
    /// Change it as well.
    ReadWrite,
}

/// When after-call events are delivered.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum DeliveryName {
    /// Before the answer leaves, so that a retry finds what was recorded.
    BeforeReply,
    /// Behind the answer, from a bounded queue.
    BehindReply,
}

/// What one event of a listener may use. Without a value the host's default holds.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LimitsTable {
    /// Linear memory, in MiB. Without it 64.
    pub(super) memory_mib: Option<Bounded<1, 4096>>,
    /// The largest arguments or result that are handed over, in KiB; larger ones arrive as size and digest. Without it 1024.
    pub(super) payload_kib: Option<Bounded<1, 65_536>>,
    /// The largest decision that is taken, in KiB. Without it 1024.
    pub(super) output_kib: Option<Bounded<1, 65_536>>,
    /// How much one call to the host may carry, in MiB. Without it 8.
    pub(super) hostcall_fuel_mib: Option<Bounded<1, 1024>>,
    /// How much of its standard error is kept for the record of a failure, in KiB. Without it 16.
    pub(super) stderr_kib: Option<Bounded<1, 1024>>,
    /// Elements of all its tables together. Without it 20000, which is the most.
    pub(super) table_elements: Option<Bounded<1, 20_000>>,
    /// Core instances in its component. Without it 64, which is the most.
    pub(super) instances: Option<Bounded<1, 64>>,
    /// Resources of the host that it holds at one moment. Without it 1000.
    pub(super) handles: Option<Bounded<1, 100_000>>,
    /// Calls to the host. Without it 100000.
    pub(super) host_calls: Option<Bounded<1, 10_000_000>>,
    /// How much it may log, in KiB; what comes after is dropped. Without it 64.
    pub(super) log_kib: Option<Bounded<1, 65_536>>,
    /// How much it may move through the state store, in KiB. Without it 16384.
    pub(super) state_kib: Option<Bounded<1, 1_048_576>>,
    /// How many events may run at the same time; others wait, for as long as their deadline. Without it 16.
    pub(super) concurrency: Option<Bounded<1, 1024>>,
    /// How many instances are made ahead of their events; they hold their memory. Without it 4.
    pub(super) ready: Option<Bounded<0, 64>>,
    /// How long an instance may take to be ready ahead of its event, in milliseconds. Without it 1000.
    pub(super) preparation_ms: Option<Bounded<1, 60_000>>,
}

/// When a listener that keeps failing is no longer asked. Counted for each caller, hook and tool by itself.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct BreakerTable {
    /// After so many failures in a row; 0 for never. Without it 5.
    pub(super) failures: Option<Bounded<0, 1000>>,
    /// How long it is left alone at first, in milliseconds. Then one event tries it. Without it 1000.
    pub(super) pause_ms: Option<Bounded<1, 3_600_000>>,
    /// Each try that fails doubles the pause, up to this, in milliseconds. Without it 30000.
    pub(super) longest_pause_ms: Option<Bounded<1, 3_600_000>>,
}

/// The JSON Schema of the file.
pub fn json_schema() -> schemars::Schema {
    schemars::schema_for!(Document)
}

impl From<HookName> for Hook {
    fn from(name: HookName) -> Self {
        match name {
            HookName::Grant => Self::Grant,
            HookName::BeforeCall => Self::BeforeCall,
            HookName::AfterCall => Self::AfterCall,
        }
    }
}

impl From<CapabilityName> for Capability {
    fn from(name: CapabilityName) -> Self {
        match name {
            CapabilityName::Log => Self::Log,
            CapabilityName::State => Self::State,
            CapabilityName::Clocks => Self::Clocks,
        }
    }
}

impl From<AccessName> for FolderAccess {
    fn from(name: AccessName) -> Self {
        match name {
            AccessName::Read => Self::Read,
            AccessName::ReadWrite => Self::ReadWrite,
        }
    }
}

impl From<DeliveryName> for Delivery {
    fn from(name: DeliveryName) -> Self {
        match name {
            DeliveryName::BeforeReply => Self::BeforeReply,
            DeliveryName::BehindReply => Self::BehindReply,
        }
    }
}
