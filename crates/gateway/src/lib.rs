//! The gateway: one configuration file, the servers behind it, the listeners in front of them, and the commands around it.
#![deny(missing_docs)]

pub mod cli;

pub mod config;
pub mod assemble;
pub mod sqlite_state;
pub mod approvals;

mod demo;
mod text;
