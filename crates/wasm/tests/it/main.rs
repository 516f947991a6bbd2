//! Guests of every kind, good and bad, in a real sandbox.

mod kit;
mod sandbox;

mod loading;
mod decisions;
mod failures;
mod limits;
mod isolation;
mod state;
