//! The policy of the guests as a type of the host project, and a tool that does nothing: what there is to compare with.

use async_trait::async_trait;
use callgate_core::grant::{GrantAnswer, GrantedCall, Narrowing};
use callgate_core::listener::{GrantQuery, Hooks, Listener};
use callgate_core::testing::empty_result;
use callgate_core::tool::{ToolFailure, ToolProvider, ToolReply};
use callgate_core::verdict::Denial;
use callgate_core::{CallReport, ListenerFailure, Verdict};
use serde::Deserialize;
use serde_json::Value;

/// Decides what the guests decide.
#[derive(Debug)]
pub(crate) struct Native(pub(crate) Hooks);

#[derive(Deserialize)]
struct Arguments {
    #[serde(default)]
    refuse: Value,
}

#[async_trait]
impl Listener for Native {
    fn hooks(&self) -> Hooks {
        self.0
    }

    async fn grant(&self, query: &GrantQuery) -> Result<GrantAnswer, ListenerFailure> {
        let reader = query.caller.identity().roles.iter().any(|role| role == "reader");
        let kept = || GrantAnswer::Narrow(Narrowing::to_nothing().and_matching(["*read*"]));
        Ok(if reader { kept() } else { GrantAnswer::Abstain })
    }

    async fn before_call(&self, call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        let arguments: Result<Arguments, _> = serde_json::from_str(call.arguments().as_str());
        let arguments = arguments.map_err(|error| ListenerFailure::Returned(error.to_string()))?;
        let Value::String(reason) = arguments.refuse else { return Ok(Verdict::Proceed) };
        Ok(Verdict::Deny(Denial::new(reason).map_err(|error| ListenerFailure::Returned(error.to_string()))?))
    }

    async fn after_call(&self, _: &CallReport) -> Result<(), ListenerFailure> {
        Ok(())
    }
}

/// A tool that does nothing.
#[derive(Debug)]
pub(crate) struct Idle;

#[async_trait]
impl ToolProvider for Idle {
    async fn call(&self, _: &GrantedCall) -> Result<ToolReply, ToolFailure> {
        Ok(ToolReply::result(empty_result()))
    }
}
