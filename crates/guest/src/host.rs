//! The host's functions: imports of the component, and in a native build their stand-ins for unit tests.

#[cfg(target_arch = "wasm32")]
pub(crate) use crate::bindings::shared::callgate::host::{config, log, state};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use crate::testing::host::{config, log, state};

/// The rows under decision, for the grant hook alone: called from another hook it traps.
pub mod registry {
    #[cfg(target_arch = "wasm32")]
    pub use crate::bindings::shared::callgate::listener::registry::{count, find, rows};
    #[cfg(not(target_arch = "wasm32"))]
    pub use crate::testing::host::registry::{count, find, rows};
}
