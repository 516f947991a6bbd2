//! What a host asks: a listener with up to three hooks.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::caller::Caller;
use crate::failure::ListenerFailure;
use crate::grant::{GrantAnswer, GrantedCall};
use crate::registry::ToolRegistry;
use crate::report::CallReport;
use crate::verdict::Verdict;

/// A listener: a sandboxed component, or a type of the host project. Every event is independent of every other (F5).
#[async_trait]
pub trait Listener: Send + Sync + fmt::Debug {
    /// The hooks that the listener has. Others are never asked.
    fn hooks(&self) -> Hooks;

    /// SHA-256 of the component in lower-case hex; empty for a type of the host project.
    fn digest(&self) -> &str {
        ""
    }

    /// Which tools exist for a caller. Asked for listings and for calls alike, and not told which (G10).
    ///
    /// # Errors
    /// Refuses a call (G5), degrades a listing (G6).
    async fn grant(&self, _query: &GrantQuery) -> Result<GrantAnswer, ListenerFailure> {
        Ok(GrantAnswer::Abstain)
    }

    /// Whether a call goes on (B2).
    ///
    /// # Errors
    /// Fails the call (B6).
    async fn before_call(&self, _call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        Ok(Verdict::Proceed)
    }

    /// How a call ended (A1).
    ///
    /// # Errors
    /// Logged, counted and ignored (A3).
    async fn after_call(&self, _report: &CallReport) -> Result<(), ListenerFailure> {
        Ok(())
    }
}

/// What the grant hook decides over.
#[derive(Clone, Debug)]
pub struct GrantQuery {
    /// Who asks.
    pub caller: Arc<Caller>,
    /// The rows under decision.
    pub registry: Arc<ToolRegistry>,
}

/// The hooks that a listener has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hooks {
    /// Decides which tools exist for a caller.
    pub grant: bool,
    /// Is asked before a call.
    pub before_call: bool,
    /// Is told after a call.
    pub after_call: bool,
}

impl Hooks {
    /// All three.
    pub const ALL: Self = Self { grant: true, before_call: true, after_call: true };
}

/// Stands in for a listener that is configured but could not be loaded: whatever it is asked, it has failed (F1). A gate
/// that is missing must not be a gate that is open.
#[derive(Debug)]
pub struct NotLoaded {
    hooks: Hooks,
    reason: String,
}

impl NotLoaded {
    /// A stand-in for a listener that would have had these hooks.
    pub fn new(hooks: Hooks, reason: impl Into<String>) -> Self {
        Self { hooks, reason: reason.into() }
    }

    fn failure(&self) -> ListenerFailure {
        ListenerFailure::NotLoaded(self.reason.clone())
    }
}

#[async_trait]
impl Listener for NotLoaded {
    fn hooks(&self) -> Hooks {
        self.hooks
    }

    async fn grant(&self, _query: &GrantQuery) -> Result<GrantAnswer, ListenerFailure> {
        Err(self.failure())
    }

    async fn before_call(&self, _call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        Err(self.failure())
    }

    async fn after_call(&self, _report: &CallReport) -> Result<(), ListenerFailure> {
        Err(self.failure())
    }
}
