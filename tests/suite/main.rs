//! The whole of callgate: real components, the real binary, real peers.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests and their helpers say what they expect by failing"
)]

mod listeners;
mod toolchains;
mod capabilities;
mod nothing_refused_runs;
mod blast_radius;
mod hostile;

mod errors_on_the_wire;
mod embedding;
mod bypasses;
mod ledger_survives;
mod unread_log;
mod governed_peers;
mod matrix;
mod refuses_to_start;

mod soak;

mod peers;
