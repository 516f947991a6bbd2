//! The Model Context Protocol around [`callgate_core`]: a server that clients talk to, and the clients by which it talks to
//! the servers behind it.
//!
//! Messages are kept as the text that they came as. Only what governance decides about is read, and only what it changes is
//! rewritten; everything else passes byte for byte.
#![deny(missing_docs)]

pub mod client;
pub mod server;
pub mod survey;
pub mod upstream;

mod builtin;
mod convert;
mod era;
mod inventory;
mod tasks;

mod edit;
pub mod envelope;
mod lines;

#[doc(hidden)]
pub mod fuzz;

pub use client::Client;
pub use era::Era;
pub use inventory::{Collision, ListingFailure};
pub use server::{ServeError, Server, serve, serve_stdio};
pub use survey::{Survey, survey};
pub use upstream::{Command, Governance, Transport, Upstream};
