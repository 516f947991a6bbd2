//! Guests that do everything wrong: each as every hook, on a listing and on calls, between two listeners that do their work.

mod guests;
mod rig;

mod matrix;
mod sequences;
mod languages;
mod limits;
mod refused;

const NOT_VERIFIED: &str = "Error: Tool access could not be verified.";
const INTERNAL: &str = "Error: An internal error occurred while executing the tool.";
