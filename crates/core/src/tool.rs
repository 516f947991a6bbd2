//! What runs a tool once governance let the call through.

use std::fmt;

use async_trait::async_trait;

use crate::binding::BindingError;
use crate::grant::GrantedCall;
use crate::json::Json;
use crate::report::{Completion, Dispatch};

/// Runs a tool: one of an upstream server or one of the host project itself.
#[async_trait]
pub trait ToolProvider: Send + Sync + fmt::Debug {
    /// Runs the tool for a call that was let through, at most once (B7): never tries again. The future is dropped when the
    /// caller leaves or the deadline passes.
    ///
    /// # Errors
    /// When there is no reply to pass on. A result that says `isError` is a reply.
    async fn call(&self, call: &GrantedCall) -> Result<ToolReply, ToolFailure>;
}

/// What a tool that ran gave back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolReply {
    /// The reply itself.
    pub body: ReplyBody,
    /// Whether it is the last word of the call.
    pub completion: Completion,
    /// The whole message that the reply came in, for a front that passes messages on byte for byte (W2).
    pub message: Option<Json>,
}

/// A reply is a tool result or the tool server's own protocol error (E4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyBody {
    /// A tool result.
    Result(Json),
    /// The `error` member of a JSON-RPC response.
    Error(Json),
}

/// Why a tool gave no reply. Callers see none of the texts (E3), except that a binding error names the argument.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolFailure {
    /// The call to the tool's own function did not take the arguments. The tool did not run.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// Something was raised inside the tool.
    #[error("the tool failed: {0}")]
    Raised(String),
    /// The server behind the tool was lost.
    #[error("the upstream was lost: {detail}")]
    Upstream {
        /// What happened.
        detail: String,
        /// Whether the tool may have run.
        dispatch: Dispatch,
    },
}

impl ToolReply {
    /// A complete result.
    pub fn result(result: Json) -> Self {
        Self { body: ReplyBody::Result(result), completion: Completion::Complete, message: None }
    }
}
