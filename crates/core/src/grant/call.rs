//! The proof that a call was granted.

use std::sync::Arc;

use crate::json::Json;
use crate::registry::{Row, Tool};
use crate::request::ToolCallContext;

/// A call that the access gate granted: the only thing that before-call listeners and tools accept. Nobody but the gate
/// can make one.
///
/// ```compile_fail,E0451
/// # use std::sync::Arc;
/// # fn forge(tool: Arc<callgate_core::registry::Tool>, context: Arc<callgate_core::ToolCallContext>) {
/// let params = callgate_core::Json::empty_object();
/// let forged = callgate_core::GrantedCall { tool, context, params, wire: None };
/// # }
/// ```
///
/// ```compile_fail,E0624
/// # use std::sync::Arc;
/// # fn forge(tool: Arc<callgate_core::registry::Tool>, context: Arc<callgate_core::ToolCallContext>) {
/// let params = callgate_core::Json::empty_object();
/// let forged = callgate_core::GrantedCall::new(tool, context, params, None);
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct GrantedCall {
    tool: Arc<Tool>,
    context: Arc<ToolCallContext>,
    params: Json,
    wire: Option<Json>,
}

impl GrantedCall {
    pub(super) fn new(tool: Arc<Tool>, context: Arc<ToolCallContext>, params: Json, wire: Option<Json>) -> Self {
        Self { tool, context, params, wire }
    }

    /// The call as listeners see it.
    pub fn context(&self) -> &Arc<ToolCallContext> {
        &self.context
    }

    /// The tool's name as the caller wrote it.
    pub fn identifier(&self) -> &str {
        &self.context.identifier
    }

    /// The arguments that were judged: an object.
    pub fn arguments(&self) -> &Json {
        &self.context.arguments
    }

    /// The row that the call was granted for.
    pub fn row(&self) -> &Row {
        &self.tool.row
    }

    /// The `params` of the request, exactly as received: what an upstream gets, but for a name or arguments that were
    /// read as something else (N1, N2).
    pub fn params(&self) -> &Json {
        &self.params
    }

    /// What the front gave along to find again.
    pub fn wire(&self) -> Option<&Json> {
        self.wire.as_ref()
    }

    pub(crate) fn tool(&self) -> &Arc<Tool> {
        &self.tool
    }
}
