//! What the tests of this package share: where guests, peers and the binary are, the real host in process, the real binary
//! over a configuration of its own, and clients to drive them with.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "this is a part of tests, where a panic is how a failure is told"
)]

pub mod host;
pub mod tools;
pub mod misbehaving;
pub mod records;

pub mod soak;
pub mod usage;

pub mod gateway;
pub mod wire;
pub mod clients;

pub mod built;
pub mod process;
pub mod peers;
pub mod waiting;
