//! What a ticket stands for, and the record of it in the store. `callgate approve` reads and changes the same record.

use std::time::{Duration, SystemTime};

use callgate_guest::state::Keep;
use callgate_guest::{Row, ToolCall, json};
use serde::{Deserialize, Serialize};

/// Before the ticket in a key.
pub(crate) const PREFIX: &str = "approval/";

/// Longer arguments are not kept for the operator to read, only their digest.
const MAX_ARGUMENTS_SHOWN: usize = 4_096;

/// A ticket as it stands in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Ticket {
    #[serde(rename = "state")]
    pub(crate) stage: Stage,
    /// The call: who, which tool by which definition, with what.
    #[serde(flatten)]
    subject_matter: SubjectMatter,
    /// For the operator to read.
    arguments: Option<String>,
    /// When neither request nor approval is good any more, in milliseconds since 1970.
    expires_ms: u64,
    /// The call that has the approval, and the run of the host in which it began.
    #[serde(default)]
    pub(crate) taken_by: String,
    #[serde(default)]
    pub(crate) host_run: String,
}

/// Where a ticket is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Stage {
    /// Waits for an operator.
    Pending,
    /// An operator approved it: good for one call.
    Approved,
    /// A call has it.
    Taken,
    /// The call that had it asked its caller for input: good for the next round of that call.
    Continuing,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct SubjectMatter {
    issuer: Option<String>,
    subject: String,
    tenant: Option<String>,
    tool: String,
    definition_digest: String,
    arguments_digest: String,
}

/// The key of the ticket for that call, which ends with the ticket: 12 hex digits of a hash over all that the approval is for.
pub(crate) fn key(call: &ToolCall, row: &Row) -> String {
    let it = SubjectMatter::of(call, row);
    let whole =
        serde_json::json!([it.issuer, it.subject, it.tenant, it.tool, it.definition_digest, it.arguments_digest]);
    let ticket: String = json::digest(&whole.to_string()).chars().take(12).collect();
    format!("{PREFIX}{ticket}")
}

impl SubjectMatter {
    fn of(call: &ToolCall, row: &Row) -> Self {
        Self {
            issuer: call.caller.issuer.clone(),
            subject: call.caller.subject.clone(),
            tenant: call.caller.tenant.clone(),
            tool: row.identifier.clone(),
            definition_digest: row.definition_digest.clone(),
            arguments_digest: call.arguments.digest(),
        }
    }
}

impl Ticket {
    /// The request that an operator is to decide.
    pub(crate) fn request(call: &ToolCall, row: &Row, minutes: u32) -> Self {
        let arguments = call.arguments.text().filter(|text| text.len() <= MAX_ARGUMENTS_SHOWN);
        Self {
            stage: Stage::Pending,
            subject_matter: SubjectMatter::of(call, row),
            arguments: arguments.map(str::to_owned),
            expires_ms: now_ms() + u64::from(minutes) * 60_000,
            taken_by: String::new(),
            host_run: String::new(),
        }
    }

    /// Twelve digits are few enough for somebody to look for two calls that share them: what counts is the whole record.
    pub(crate) fn is_for(&self, requested: &Self) -> bool {
        self.subject_matter == requested.subject_matter
    }

    pub(crate) fn has_expired(&self) -> bool {
        self.expires_ms <= now_ms()
    }

    pub(crate) fn at(&self, stage: Stage) -> Self {
        Self { stage, taken_by: String::new(), host_run: String::new(), ..self.clone() }
    }

    pub(crate) fn taken_by(&self, call: &ToolCall) -> Self {
        Self { stage: Stage::Taken, taken_by: call.id.clone(), host_run: call.host_run(), ..self.clone() }
    }

    /// For as long as it is good; a moment at least, because an expiry of nothing says nothing.
    pub(crate) fn keep(&self) -> Keep {
        Keep::For(Duration::from_millis(self.expires_ms.saturating_sub(now_ms()).max(1)))
    }

    pub(crate) fn to_json(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| error.to_string())
    }

    pub(crate) fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("a ticket in the store can not be read: {error}"))
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
