//! What counts as a failure of a listener (F1).

use std::time::Duration;

/// How a listener failed. Told apart by kind, never by the text of a message; the texts are for the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListenerFailure {
    /// The component trapped.
    #[error("trapped: {detail}{}", tail(.stderr))]
    Trap {
        /// What kind of trap it was, with the component's own frames where known.
        detail: String,
        /// The end of what the component wrote to its standard error.
        stderr: String,
    },
    /// The component ended itself through its exit call.
    #[error("exited with code {code}{}", tail(.stderr))]
    Exit {
        /// The code that it gave.
        code: i32,
        /// The end of what the component wrote to its standard error.
        stderr: String,
    },
    /// A listener of the host project panicked.
    #[error("panicked: {0}")]
    Panic(String),
    /// The deadline passed, in the listener's own code or in a call to the host.
    #[error("no decision within {} ms", .0.as_millis())]
    Deadline(Duration),
    /// The named limit was exceeded.
    #[error("over its limit of {limit}{}", tail(.stderr))]
    Limit {
        /// The limit, for example `memory`.
        limit: &'static str,
        /// The end of what the component wrote to its standard error.
        stderr: String,
    },
    /// The hook returned an error. The text is the listener's own.
    #[error("returned an error: {0}")]
    Returned(String),
    /// What the hook returned could not be read.
    #[error("gave an unreadable answer: {0}")]
    BadReturn(String),
    /// The answer was readable, and is not allowed (B4, B5).
    #[error("gave an invalid decision: {0}")]
    InvalidDecision(InvalidDecision),
    /// No instance could be created.
    #[error("could not be instantiated: {0}")]
    Instantiation(String),
    /// There was no capacity left to ask the listener.
    #[error("no capacity to ask it")]
    Overload,
    /// The listener is configured but not loaded.
    #[error("not loaded: {0}")]
    NotLoaded(String),
    /// The listener was not asked, because it kept failing (F6).
    #[error("not asked, because it failed {failures} times in a row; the last time: {last}")]
    Suspended {
        /// How often it had failed in a row when it was last asked.
        failures: u32,
        /// The kind of the last of these failures.
        last: &'static str,
    },
}

/// Why a decision is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDecision {
    /// A denial without a reason (B4).
    #[error("a denial needs a reason")]
    EmptyReason,
    /// An answer that is no valid tool result (B5).
    #[error("the answer is no tool result: {0}")]
    NotAToolResult(String),
    /// An answer that breaks the tool's output schema (B5).
    #[error("the answer breaks the tool's output schema: {0}")]
    OutputSchema(String),
    /// An answer to a continuation (W4).
    #[error("a continuation can not be answered")]
    ContinuationAnswered,
}

impl ListenerFailure {
    /// A short name of the kind, for metrics: never text that a listener chose.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Trap { .. } => "trap",
            Self::Exit { .. } => "exit",
            Self::Panic(_) => "panic",
            Self::Deadline(_) => "deadline",
            Self::Limit { limit, .. } => limit,
            Self::Returned(_) => "returned",
            Self::BadReturn(_) => "bad-return",
            Self::InvalidDecision(_) => "invalid-decision",
            Self::Instantiation(_) => "instantiation",
            Self::Overload => "overload",
            Self::NotLoaded(_) => "not-loaded",
            Self::Suspended { .. } => "suspended",
        }
    }
}

fn tail(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!("; its standard error ended with: {text}"),
    }
}
