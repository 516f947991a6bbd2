//! Decides what a caller of a tool may see, what it may run, and what is recorded about it.
//!
//! A host project describes its tools as [`Row`]s in a [`ToolRegistry`], adds [`Listener`]s, and sends every listing and
//! every call through a [`Dispatcher`]. What may be relied on is written down, clause by clause, in `CONTRACT.md` beside
//! this crate; the clause numbers in these pages (`G4`, `B6`, …) are that document's.
#![deny(missing_docs)]

pub mod dispatcher;

pub mod grant;
pub mod rules;
pub mod subscription;

pub mod answers;
pub mod binding;
pub mod meta;
pub mod request;

pub mod caller;
pub mod native;
pub mod permissions;
pub mod registry;
pub mod tool;

pub mod failure;
pub mod listener;
pub mod refusal;
pub mod report;
pub mod verdict;

pub mod json;
pub mod state;
pub mod testing;

pub use caller::Caller;
pub use dispatcher::{Dispatcher, Listing, Outcome};
pub use failure::ListenerFailure;
pub use grant::GrantedCall;
pub use json::Json;
pub use listener::Listener;
pub use native::NativeTool;
pub use refusal::Refusal;
pub use registry::{Row, ToolRegistry};
pub use report::CallReport;
pub use request::{CallRequest, ToolCallContext};
pub use rules::{RuleSet, Rules};
pub use state::StateStore;
pub use subscription::Subscription;
pub use verdict::Verdict;
