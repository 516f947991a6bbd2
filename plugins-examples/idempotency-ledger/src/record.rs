//! What the store holds for a key.

use callgate_guest::{Caller, Row, ToolCall, json};
use serde::{Deserialize, Serialize};

/// One use of one key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Record {
    /// What the key was first used with.
    pub(crate) arguments_digest: String,
    #[serde(flatten)]
    pub(crate) progress: Progress,
}

/// How far it has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub(crate) enum Progress {
    /// Claimed by a call that began in that run of the host. In a later run nobody will report its end any more.
    Running { call: String, host_run: String },
    /// The tool asked its caller for input: the next round takes the claim.
    Waiting,
    /// It ran, and this is its result as the caller got it.
    Completed { result: String },
    /// It ran, and its result is not here.
    Unkept,
    /// It may have run.
    Unknown,
}

/// The key in the store. A hash, because a client's key may be longer than a key of the store; over a list, so that no two
/// lists are spelled alike.
pub(crate) fn key(caller: &Caller, row: &Row, idempotency_key: &str) -> String {
    let scope = serde_json::json!([caller.issuer, caller.subject, caller.tenant, row.identifier, idempotency_key]);
    format!("key/{}", json::digest(&scope.to_string()))
}

impl Record {
    /// What a call puts down before it runs.
    pub(crate) fn claim(call: &ToolCall) -> Self {
        let progress = Progress::Running { call: call.id.clone(), host_run: call.host_run() };
        Self { arguments_digest: call.arguments.digest(), progress }
    }

    pub(crate) fn is_held_by(&self, call: &ToolCall) -> bool {
        matches!(&self.progress, Progress::Running { call: holder, .. } if *holder == call.id)
    }

    pub(crate) fn with(self, progress: Progress) -> Self {
        Self { progress, ..self }
    }

    pub(crate) fn to_json(&self) -> Result<String, String> {
        serde_json::to_string(self).map_err(|error| error.to_string())
    }

    pub(crate) fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("a record in the store can not be read: {error}"))
    }
}
