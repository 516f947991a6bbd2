//! What the contract promises, through the crate's public face alone.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests and their helpers say what they expect by failing"
)]

mod support;

mod after;
mod before;
mod errors;
mod explaining;
mod failures;
mod granting;
mod normalising;
mod nothing_refused_runs;
mod suspending;
mod withdrawing;
