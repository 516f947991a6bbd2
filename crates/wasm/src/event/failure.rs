//! Everything that can go wrong in an event, as the failure that it is (F1).

use std::any::Any;
use std::time::Duration;

use callgate_core::failure::ListenerFailure;
use tokio::time::error::Elapsed;
use wasmtime::component::ResourceTableError;
use wasmtime::{PoolConcurrencyLimitError, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::abi::v0_1::NoRegistry;
use crate::capabilities::NotGranted;
use crate::limits::LimitExceeded;
use crate::text::printable;

/// The most characters of a guest's own text in a failure.
const TEXT: usize = 4_096;
/// The most characters of a failure's description.
const DETAIL: usize = 2_048;

/// What an error was met in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Creating the instance.
    Instantiate,
    /// Calling the hook: handing over the question, running, reading the answer.
    Call,
}

/// How an event ended without a decision.
pub(crate) enum Fault {
    /// The hook returned an error.
    Returned(String),
    /// The engine gave up.
    Error(Stage, wasmtime::Error),
    /// A host function panicked.
    Panic(Box<dyn Any + Send>),
    /// The deadline passed outside of guest code.
    Late,
}

/// How a guest's work under a deadline ended: in time or not, with or without a panic of the host.
pub(super) type Outcome<T> = Result<Result<Result<T, Fault>, Box<dyn Any + Send>>, Elapsed>;

impl Fault {
    /// What came of a guest's work under a deadline.
    pub(super) fn from_outcome<T>(outcome: Outcome<T>) -> Result<T, Self> {
        outcome.map_err(|_| Self::Late)?.map_err(Self::Panic)?
    }
}

/// Says what a fault counts as. `refused` is the limit that growing was refused for during the event.
pub(super) fn classify(
    fault: Fault,
    deadline: Duration,
    output: &str,
    refused: Option<&'static str>,
) -> ListenerFailure {
    let stderr = printable(output, usize::MAX);
    match fault {
        Fault::Returned(text) => ListenerFailure::Returned(printable(&text, TEXT)),
        Fault::Panic(panic) => ListenerFailure::Trap { detail: panic_detail(panic.as_ref()), stderr },
        Fault::Late => ListenerFailure::Deadline(deadline),
        Fault::Error(stage, error) => classify_error(stage, &error, deadline, stderr, refused),
    }
}

fn classify_error(
    stage: Stage,
    error: &wasmtime::Error,
    deadline: Duration,
    stderr: String,
    refused: Option<&'static str>,
) -> ListenerFailure {
    if let Some(LimitExceeded(limit)) = error.downcast_ref() {
        return ListenerFailure::Limit { limit, stderr };
    }
    if let Some(I32Exit(code)) = error.downcast_ref() {
        return ListenerFailure::Exit { code: *code, stderr };
    }
    if error.downcast_ref::<PoolConcurrencyLimitError>().is_some() {
        return ListenerFailure::Overload;
    }
    if let Some(ResourceTableError::Full) = error.downcast_ref() {
        return ListenerFailure::Limit { limit: "handles", stderr };
    }
    let trap = error.downcast_ref::<Trap>();
    if trap == Some(&Trap::Interrupt) {
        return ListenerFailure::Deadline(deadline);
    }
    // A guest whose memory may not grow ends itself, in its own way.
    if let Some(limit) = refused.filter(|_| trap.is_some() || stage == Stage::Instantiate) {
        return ListenerFailure::Limit { limit, stderr };
    }
    if let Some(limit) = limit_without_a_type(error) {
        return ListenerFailure::Limit { limit, stderr };
    }
    let cause = error.root_cause().to_string();
    let by_host = error.downcast_ref::<NotGranted>().is_some() || error.downcast_ref::<NoRegistry>().is_some();
    let frames = frames(error);
    match stage {
        _ if trap.is_some() || by_host || !frames.is_empty() => {
            ListenerFailure::Trap { detail: printable(&format!("{cause}{frames}"), DETAIL), stderr }
        }
        Stage::Instantiate => ListenerFailure::Instantiation(printable(&cause, DETAIL)),
        Stage::Call => ListenerFailure::BadReturn(printable(&cause, DETAIL)),
    }
}

/// The engine has no type for these, only a text. A test for each of them fails should the text change.
fn limit_without_a_type(error: &wasmtime::Error) -> Option<&'static str> {
    let cause = error.root_cause().to_string();
    [
        ("fuel allocated for hostcalls has been exhausted", "hostcall-fuel"),
        ("store handle limit exceeded", "handles"),
        ("resource limit exceeded: instance count", "instances"),
    ]
    .into_iter()
    .find_map(|(text, limit)| cause.contains(text).then_some(limit))
}

/// The guest's own frames, innermost first.
fn frames(error: &wasmtime::Error) -> String {
    let backtrace = error.downcast_ref::<WasmBacktrace>().map(ToString::to_string).unwrap_or_default();
    // Each frame has a line of its own: number, address, and after a dash the name.
    let names: Vec<_> = backtrace
        .lines()
        .filter_map(|line| line.split_once(" - "))
        .map(|(_, name)| name.strip_prefix("<unknown>!").unwrap_or(name))
        .collect();
    if names.is_empty() { String::new() } else { format!(" in {}", names.join(" < ")) }
}

fn panic_detail(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("a host function panicked: {}", printable(text.unwrap_or("without a message"), TEXT))
}
