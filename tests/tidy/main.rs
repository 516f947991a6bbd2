//! The tree keeps its own rules: none of these tests runs any of its code.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "tests and their helpers say what they expect by failing"
)]

mod clauses;
mod arrows;
mod sources;
mod manifests;

mod tree;
