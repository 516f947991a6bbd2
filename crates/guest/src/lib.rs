#![doc = include_str!("../README.md")]
#![deny(missing_docs)]

#[doc(hidden)]
#[allow(
    missing_docs,
    unsafe_code,
    unreachable_pub,
    clippy::all,
    reason = "generated: lifting and lowering is raw memory, and the WIT carries the documentation"
)]
pub mod bindings;
mod export;

mod call;
mod verdict;

pub mod config;
pub mod json;
pub mod log;
pub mod pattern;
pub mod state;

mod host;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

/// The grant hook: which tools exist for a caller.
pub use bindings::grant::exports::callgate::listener::grant::Guest as GrantHook;
pub use bindings::grant::exports::callgate::listener::grant::{Decision, Narrowing};

/// The before-call hook: whether a call goes on.
pub use bindings::before_call::exports::callgate::listener::before_call::Guest as BeforeCallHook;
pub use bindings::before_call::exports::callgate::listener::before_call::{Denial, Verdict};

/// The after-call hook: how a call ended.
pub use bindings::after_call::exports::callgate::listener::after_call::Guest as AfterCallHook;
pub use bindings::after_call::exports::callgate::listener::after_call::{
    Completion, Dispatch, Ending, Failure, Report, Step,
};

/// What a component may do on each instance ahead of its first event.
pub use bindings::prepare::exports::callgate::listener::prepare::Guest as Prepare;

pub use bindings::shared::callgate::listener::types::{Caller, Entry, Oversize, Payload, Row, ToolCall};

pub use call::MetaError;
pub use host::registry;
