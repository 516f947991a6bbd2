//! From compiled code to a component that runs: the one place of this project where the language's checks are off.
//!
//! Compiled code is machine code. The engine looks whether it was made for its settings, and believes everything else.
#![allow(unsafe_code, reason = "loading compiled code is unsafe; both types here say why it may be believed")]

#[cfg(target_os = "linux")]
use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;

use wasmtime::Engine;
use wasmtime::component::Component;

/// Bytes that this program compiled: they carry its own seal, or came straight from a process of its own that compiles.
// INVARIANT: made from bytes that were authenticated or that a child process of this program's own configuration wrote for
// the same key. Nothing that a component or a caller sent is ever made into one.
#[derive(Debug)]
pub(super) struct OurCode<'a>(pub(super) &'a [u8]);

impl OurCode<'_> {
    pub(super) fn load(&self, engine: &Engine) -> wasmtime::Result<Component> {
        // SAFETY: the bytes are what an engine of this version with these settings serialised, as the type's invariant says.
        unsafe { Component::deserialize(engine, self.0) }
    }
}

/// A file whose bytes were read through this very descriptor and carry this program's own seal.
// INVARIANT: made only after that check. Entries are never written in place, so what the descriptor leads to stays as it was
// read. Only the user that we run as could change it, and that user can change this process as well.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub(super) struct OurFile<'a>(pub(super) &'a File);

#[cfg(target_os = "linux")]
impl OurFile<'_> {
    /// Maps the file. The name in its folder is not looked up again: by now it may be that of another file.
    pub(super) fn load(&self, engine: &Engine) -> wasmtime::Result<Component> {
        let path = format!("/proc/self/fd/{}", self.0.as_raw_fd());
        // SAFETY: as above; the path is the descriptor that was checked.
        unsafe { Component::deserialize_file(engine, path) }
    }
}
