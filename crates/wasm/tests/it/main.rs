//! Guests of every kind, good and bad, in a real sandbox.
#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests and their helpers say what they expect by failing"
)]

use callgate_kit as kit;

mod sandbox;

mod loading;
mod decisions;
mod failures;
mod preparation;
mod limits;
mod isolation;
mod state;
