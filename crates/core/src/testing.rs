//! Ready-made callers, rows, tools and listeners, for tests of this crate and of host projects.

mod listeners;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;

use crate::caller::{Caller, Identity};
use crate::grant::{AccessGate, GrantedCall};
use crate::json::Json;
use crate::permissions::Permissions;
use crate::registry::{Exposure, Reach, Row, Tool, ToolRegistry};
use crate::request::{CallRequest, Round, ToolCallContext, normalise};
use crate::rules::{RuleSet, Rules};
use crate::tool::{ToolFailure, ToolProvider, ToolReply};
use crate::{Dispatcher, Subscription};

pub use listeners::{Scripted, subscription};

/// A caller of that name with these roles.
pub fn caller(subject: &str, roles: &[&str]) -> Arc<Caller> {
    let roles = roles.iter().map(|role| (*role).to_owned()).collect();
    let identity = Identity { subject: subject.into(), auth_method: "config".into(), roles, ..Identity::default() };
    #[expect(clippy::expect_used, reason = "a helper for tests, given short names")]
    Arc::new(Caller::new(identity).expect("a short identity fits its bounds"))
}

/// A row that every signed-in caller sees.
pub fn row(identifier: &str) -> Row {
    Row {
        identifier: identifier.into(),
        rpc_method: format!("test/{identifier}"),
        section: None,
        exposure: Exposure::Shown,
        reach: Reach::Bounded,
        definition_digest: crate::json::digest(identifier.as_bytes()),
        attributes: Vec::new(),
    }
}

/// A tool that every signed-in caller sees and that answers with an empty result.
pub fn tool(identifier: &str) -> Tool {
    tool_with_definition(identifier, &format!(r#"{{"name":"{identifier}"}}"#))
}

/// The same with that definition.
pub fn tool_with_definition(identifier: &str, definition: &str) -> Tool {
    #[expect(clippy::expect_used, reason = "a helper for tests, given JSON")]
    let definition = Json::parse(definition).expect("a definition is JSON");
    Tool::new(row(identifier), definition, Arc::new(Recorder::default()))
}

/// A provider that counts its calls, keeps their arguments, and answers with an empty result.
#[derive(Debug, Default)]
pub struct Recorder {
    calls: AtomicU64,
    arguments: Mutex<Vec<Json>>,
}

impl Recorder {
    /// How often the tool ran.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }

    /// What it ran with, in order.
    pub fn arguments(&self) -> Vec<Json> {
        self.arguments.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl ToolProvider for Recorder {
    async fn call(&self, call: &GrantedCall) -> Result<ToolReply, ToolFailure> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.arguments.lock().unwrap_or_else(PoisonError::into_inner).push(call.arguments().clone());
        Ok(ToolReply::result(empty_result()))
    }
}

/// `{"content":[]}`.
pub fn empty_result() -> Json {
    serde_json::json!({ "content": [] }).into()
}

/// A request of that caller for that tool.
pub fn request(caller: Option<Arc<Caller>>, tool: &str, arguments: &str) -> CallRequest {
    let name = Json::string(tool);
    #[expect(clippy::expect_used, reason = "a helper for tests, given JSON")]
    let params = Json::parse(&format!(r#"{{"name":{name},"arguments":{arguments}}}"#)).expect("arguments are JSON");
    CallRequest { caller, params, round: Round::First, wire: None }
}

/// A dispatcher over these tools and listeners, with no permissions.
///
/// # Panics
/// When two tools have one name.
pub fn dispatcher(tools: Vec<Tool>, listeners: Vec<Subscription>) -> Dispatcher {
    #[expect(clippy::expect_used, reason = "a helper for tests, given distinct names")]
    let registry = ToolRegistry::new(tools).expect("the names differ");
    let rules = RuleSet::new(registry, Permissions::default(), listeners);
    Dispatcher::new(Arc::new(Rules::new(rules)), Duration::from_secs(30))
}

/// A call to that tool, granted by a real gate over a registry of that one tool.
pub fn granted_call(tool_name: &str, arguments: &str) -> GrantedCall {
    granted_call_of(tool(tool_name), arguments)
}

/// The same for a tool of one's own.
pub fn granted_call_of(tool: Tool, arguments: &str) -> GrantedCall {
    granted(tool, arguments, Round::First)
}

/// The same for a later round.
pub fn continuation_of(tool_name: &str, arguments: &str) -> GrantedCall {
    granted(tool(tool_name), arguments, Round::Continuation)
}

fn granted(tool: Tool, arguments: &str, round: Round) -> GrantedCall {
    let name = tool.row.identifier.clone();
    let request = request(None, &name, arguments);
    let caller = caller("ada", &[]);
    let gate = || {
        let registry = ToolRegistry::new([tool]).ok()?;
        let rules = Arc::new(RuleSet::new(registry, Permissions::default(), Vec::new()));
        let decision = AccessGate::new(&rules).decide(&caller).now_or_never()?;
        let normalised = normalise(&request.params)?;
        decision.strict().ok()?.grant(&name, request.params, None, |row| ToolCallContext {
            id: "0".repeat(32),
            caller: caller.clone(),
            row,
            identifier: normalised.identifier,
            arguments: normalised.arguments,
            meta: normalised.meta,
            round,
            attributes: Arc::default(),
        })
    };
    #[expect(clippy::expect_used, reason = "a helper for tests: the row is shown to every signed-in caller")]
    gate().expect("the tool is granted")
}
