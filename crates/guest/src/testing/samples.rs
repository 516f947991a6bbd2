//! Calls, rows and reports to test with.

use crate::{Caller, Dispatch, Ending, Entry, Payload, Report, Row, ToolCall};

/// A caller that the host's configuration vouches for.
pub fn caller(subject: &str, roles: &[&str]) -> Caller {
    Caller {
        subject: subject.to_owned(),
        issuer: None,
        auth_method: "config".to_owned(),
        roles: roles.iter().map(|&role| role.to_owned()).collect(),
        tenant: None,
        claims: Vec::new(),
        attributes: Vec::new(),
    }
}

/// A row that is not generic, in section `files`.
pub fn row(identifier: &str) -> Row {
    Row {
        identifier: identifier.to_owned(),
        rpc_method: format!("files/{identifier}"),
        section: Some("files".to_owned()),
        generic: false,
        definition_digest: "d1".to_owned(),
        attributes: Vec::new(),
    }
}

/// A first-round call `call-1` by `ada` in the host's first run.
pub fn call(identifier: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: "call-1".to_owned(),
        caller: caller("ada", &["writer"]),
        identifier: identifier.to_owned(),
        arguments: Payload::Text(arguments.to_owned()),
        meta: Vec::new(),
        meta_dropped: 0,
        continuation: false,
        attributes: vec![Entry { key: "callgate/host-run".to_owned(), value: "\"run-1\"".to_owned() }],
    }
}

/// The report of a call that ended like that, with the reply that its caller got.
pub fn report(call: ToolCall, ending: Ending, dispatch: Dispatch, reply: Option<&str>) -> Report {
    Report {
        row: Some(row(&call.identifier)),
        call,
        ending,
        dispatch,
        reply: reply.map(|text| Payload::Text(text.to_owned())),
        duration_ms: 1.5,
        steps: Vec::new(),
        attributes: Vec::new(),
    }
}

/// Variations of a sample, in native tests only.
impl ToolCall {
    /// The same call under another id.
    #[must_use]
    pub fn with_id(self, id: &str) -> Self {
        Self { id: id.to_owned(), ..self }
    }

    /// The same call by another caller.
    #[must_use]
    pub fn with_caller(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    /// The same call with one more `_meta` entry, its value given as JSON text.
    #[must_use]
    pub fn with_meta(mut self, key: &str, json: &str) -> Self {
        self.meta.push(Entry { key: key.to_owned(), value: json.to_owned() });
        self
    }

    /// The same call in another run of the host process.
    #[must_use]
    pub fn with_host_run(mut self, run: &str) -> Self {
        self.attributes.retain(|entry| entry.key != "callgate/host-run");
        self.attributes.push(Entry { key: "callgate/host-run".to_owned(), value: format!("\"{run}\"") });
        self
    }

    /// A later round of the same call.
    #[must_use]
    pub fn continued(self) -> Self {
        Self { continuation: true, ..self }
    }
}
