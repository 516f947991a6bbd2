//! What the tests of this package share: where guests, peers and the binary are, and clients to drive them with.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "this is a part of tests, where a panic is how a failure is told"
)]

pub mod built;
pub mod clients;
pub mod peers;
