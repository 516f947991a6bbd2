//! How a call ended: what after-call listeners, audit and metrics get (A2).

use std::sync::Arc;
use std::time::Duration;

use crate::json::Json;
use crate::request::ToolCallContext;

/// Everything there is to know about a call that is over.
#[derive(Clone, Debug)]
pub struct CallReport {
    /// What the before-call listeners were asked about.
    pub call: Arc<ToolCallContext>,
    /// How it ended.
    pub ending: Ending,
    /// Whether the tool was reached.
    pub dispatch: Dispatch,
    /// The tool result that the caller receives; none when the call failed or was withdrawn.
    pub reply: Option<Json>,
    /// Wall-clock time spent on the call itself, on a monotonic clock, listeners excluded.
    pub duration: Duration,
    /// What each listener said, in the order in which they were asked.
    pub steps: Vec<Step>,
}

/// How a call ended, and by whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The tool ran; its result may still say `isError`.
    Executed(Completion),
    /// The named listener answered.
    Answered {
        /// Who.
        listener: String,
    },
    /// The named listener refused.
    Denied {
        /// Who.
        listener: String,
    },
    /// Permitted when it was decided, no longer when it was to run (G8).
    Withdrawn,
    /// There is no result.
    Failed(CallFailure),
}

/// What a tool that ran gave back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// Its final result.
    Complete,
    /// A request for input (W4).
    InputRequired,
    /// The handle of a task that goes on (W5).
    Task,
}

/// Whether the tool was reached (B7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// It was not.
    None,
    /// It may have run.
    Unknown,
    /// It was, and it replied.
    Done,
}

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// What failed.
    pub kind: FailureKind,
    /// The listener that failed, if one did.
    pub listener: Option<String>,
    /// For the record; callers never see it.
    pub detail: String,
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The access gate could not decide (G5).
    Gate,
    /// A before-call listener failed (B6).
    Listener,
    /// The caller's arguments do not fit the tool (E1).
    Binding,
    /// Something was raised inside the tool.
    Tool,
    /// The upstream was lost, or replied with a protocol error of its own.
    Upstream,
    /// The call took longer than it may.
    Deadline,
    /// The caller cancelled it.
    Cancelled,
    /// The caller went away.
    Disconnected,
}

impl FailureKind {
    /// The name that listeners and records see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gate => "gate",
            Self::Listener => "listener",
            Self::Binding => "binding",
            Self::Tool => "tool",
            Self::Upstream => "upstream",
            Self::Deadline => "deadline",
            Self::Cancelled => "cancelled",
            Self::Disconnected => "disconnected",
        }
    }
}

/// What one listener said about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The listener's configured name.
    pub listener: String,
    /// SHA-256 of its component; empty for a type of the host project.
    pub digest: String,
    /// What it said.
    pub said: Said,
    /// Why, for the record: a denial's private reason, or how it failed.
    pub private_reason: Option<String>,
    /// How long it took.
    pub duration: Duration,
}

/// One listener's word, without its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// No opinion on what exists.
    Abstain,
    /// Narrowed what exists.
    Narrow,
    /// Nothing against the call.
    Proceed,
    /// Refused the call.
    Deny,
    /// Answered the call.
    Answer,
    /// Failed.
    Failed,
}

impl Said {
    /// The name that listeners and records see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Abstain => "abstain",
            Self::Narrow => "narrow",
            Self::Proceed => "proceed",
            Self::Deny => "deny",
            Self::Answer => "answer",
            Self::Failed => "failed",
        }
    }
}
