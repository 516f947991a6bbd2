//! The whole of callgate: real components, the real binary, real peers.

mod listeners;
mod toolchains;

mod bypasses;
mod ledger_survives;

mod peers;
