//! Guests of every kind, good and bad, in a real sandbox.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests and their helpers say what they expect by failing"
)]

mod kit;
mod sandbox;

mod loading;
mod any_bytes;
mod skew;
mod caching;
mod compiling;
mod decisions;
mod failures;
mod preparation;
mod limits;
mod isolation;
mod state;
mod capabilities;
