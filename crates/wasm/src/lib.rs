//! Listeners as sandboxed WebAssembly components.
//!
//! A [`Sandbox`] loads component files; a [`WasmListener`] is a loaded component with a name, its limits, its own
//! configuration values and the host interfaces that it was granted, and is asked like any other
//! [`Listener`](callgate_core::Listener). Whatever a guest does, the worst that comes of it is a
//! [`ListenerFailure`](callgate_core::ListenerFailure) of that one event (F1, F2).
#![deny(missing_docs)]

pub mod sandbox;
pub mod component;
pub mod listener;

pub mod engine;
pub mod limits;
pub mod capabilities;

#[doc(hidden)]
pub mod bench;

mod event;
mod keeper;
mod lane;
mod abi;
mod text;

pub use abi::Hook;
pub use capabilities::{
    Capability, FolderAccess, FolderGrant, FolderProblem, HttpGrant, HttpProblem, Origin, OriginError, PrivateNetworks,
    RootProblem, UnknownCapability,
};
pub use component::{
    Compiler, CompilerCommand, Difference, Import, LoadError, LoadedComponent, Loads, Pin, PinError, Standing,
    compile_for_parent,
};
pub use engine::{EngineError, SandboxConfig};
pub use limits::SandboxLimits;
pub use listener::{ListenerOptions, OptionsError, WasmListener};
pub use sandbox::Sandbox;
