//! Components: read from a file, checked, compiled once.

mod error;
mod store;
mod inspect;
mod sections;
mod shape;
mod key;
mod cache;
mod compile;
mod precompiled;

use std::fmt;
use std::sync::Arc;

use callgate_core::listener::Hooks;
use wasmtime::component::InstancePre;

use crate::abi::{Hook, v0_1};
use crate::capabilities::Capability;
use crate::event::EventState;
use crate::sandbox::Inner;

pub use compile::{Compiler, CompilerCommand, compile_for_parent};
pub use error::LoadError;
pub use shape::Difference;
pub(crate) use store::ComponentStore;
pub use store::Loads;

/// A component that is ready to be asked. Immutable, and shared by all listeners that are made of it.
pub struct LoadedComponent {
    digest: String,
    size: u64,
    exported: Vec<Hook>,
    imports: Vec<Import>,
    hooks: v0_1::Hooks,
    pre: InstancePre<EventState>,
    sandbox: Arc<Inner>,
}

/// One interface that a component imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Its name as the component spells it.
    pub name: String,
    /// What there is behind it.
    pub standing: Standing,
}

/// What there is behind an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It works for every listener.
    Provided,
    /// It is there and has nothing to give: no files, no network, no environment.
    Empty,
    /// It works for listeners that are granted this, and answers with an error otherwise; a clock, which has no error to
    /// answer with, ends the event.
    Granted(Capability),
}

impl LoadedComponent {
    /// SHA-256 of the file in lower-case hex.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Bytes of the file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The hooks that the component exports.
    pub fn exported(&self) -> Hooks {
        let has = |hook| self.exported.contains(&hook);
        Hooks { grant: has(Hook::Grant), before_call: has(Hook::BeforeCall), after_call: has(Hook::AfterCall) }
    }

    /// What the component imports, in its own order. Whether it uses all of it is not known.
    pub fn imports(&self) -> &[Import] {
        &self.imports
    }

    pub(crate) fn hooks(&self) -> &v0_1::Hooks {
        &self.hooks
    }

    pub(crate) fn pre(&self) -> &InstancePre<EventState> {
        &self.pre
    }

    pub(crate) fn sandbox(&self) -> &Arc<Inner> {
        &self.sandbox
    }
}

impl fmt::Debug for LoadedComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadedComponent")
            .field("digest", &self.digest)
            .field("size", &self.size)
            .field("exported", &self.exported)
            .finish_non_exhaustive()
    }
}

/// The digest that a component must have: SHA-256 in hex.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pin(String);

/// A pin that is no SHA-256 digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sha256 has 64 hex digits")]
pub struct PinError;

impl Pin {
    /// Reads a pin.
    ///
    /// # Errors
    /// When the text is not 64 hex digits.
    pub fn parse(text: &str) -> Result<Self, PinError> {
        let digest = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if digest { Ok(Self(text.to_ascii_lowercase())) } else { Err(PinError) }
    }

    /// The digest in lower-case hex.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_64_hex_digits() {
        assert_eq!(Pin::parse(&"Ab".repeat(32)).unwrap().as_str(), "ab".repeat(32));
        for text in ["", "ab", &"g".repeat(64), &"é".repeat(32), &"a".repeat(65)] {
            assert_eq!(Pin::parse(text), Err(PinError));
        }
    }
}
