//! The whole of callgate: real components, the real binary, real peers.

mod listeners;
mod toolchains;
mod nothing_refused_runs;

mod errors_on_the_wire;
mod bypasses;
mod ledger_survives;
mod governed_peers;
mod matrix;
mod refuses_to_start;

mod peers;
