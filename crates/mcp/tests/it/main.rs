//! The server in front of upstreams that the tests play themselves, line by line.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests and their helpers say what they expect by failing"
)]

mod rig;

mod bypass;
mod call;
mod cancel;
mod child;
mod ending;
mod listing;
mod modern;
mod native;
mod refresh;
mod several;
mod tasks;
mod verbatim;
