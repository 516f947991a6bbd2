//! The tree keeps its own rules: none of these tests runs any of its code.

mod clauses;
mod arrows;
mod sources;
mod manifests;

mod tree;
