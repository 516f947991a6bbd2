//! The real program with real components, started as a user starts it.

mod rig;

mod config;
mod serve;
mod check;
mod explain;
mod approve;
mod demo;
