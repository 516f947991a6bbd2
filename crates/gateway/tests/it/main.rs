//! The real program with real components, started as a user starts it.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests and their helpers say what they expect by failing"
)]

mod rig;

mod config;
mod serve;
mod check;
mod compiling;
mod explain;
mod approve;
mod demo;
