//! The tree keeps its own rules: none of these tests runs any of its code.

mod arrows;
mod clauses;
mod manifests;
mod sources;

/// What the other modules look at.
mod tree;
