//! The state store that a configuration names, for those who serve, for those who only look, and for operators.

use std::path::PathBuf;
use std::sync::Arc;

use callgate_core::StateStore;
use callgate_core::state::{MemoryState, ScratchState, StateError};

use crate::config::{Config, StateLocation};
use crate::sqlite_state::SqliteState;

/// Why there is no store.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// It does not open.
    #[error(transparent)]
    State(#[from] StateError),
    /// It is in another process.
    #[error("the configuration keeps state in the memory of the serving process, out of the reach of this command")]
    InMemory,
    /// The file could not be made either.
    #[error("there is no folder {} for the state file", .0.display())]
    NoFolder(PathBuf),
    /// Nothing was ever kept.
    #[error("nothing is kept yet: there is no {}", .0.display())]
    NoFile(PathBuf),
}

/// The store for serving.
///
/// # Errors
/// When it does not open.
pub fn store(config: &Config) -> Result<Arc<dyn StateStore>, StoreError> {
    match &config.state {
        StateLocation::File(path) => Ok(Arc::new(SqliteState::open(path)?)),
        StateLocation::Memory => Ok(Arc::new(MemoryState::default())),
    }
}

/// A store that starts with what the configured one holds and changes nothing there, not even by making the file.
///
/// # Errors
/// When the configured one is there and does not open.
pub fn scratch_store(config: &Config) -> Result<Arc<dyn StateStore>, StoreError> {
    match existing_store(config) {
        Ok(store) => Ok(Arc::new(ScratchState::new(Arc::new(store)))),
        Err(StoreError::InMemory | StoreError::NoFile(_)) => Ok(Arc::new(MemoryState::default())),
        Err(error) => Err(error),
    }
}

/// The store that a serving process has or had.
///
/// # Errors
/// When there is none that another process could reach.
pub fn existing_store(config: &Config) -> Result<SqliteState, StoreError> {
    match &config.state {
        StateLocation::Memory => Err(StoreError::InMemory),
        StateLocation::File(path) if !path.exists() => Err(match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() && !folder.is_dir() => StoreError::NoFolder(folder.into()),
            _ => StoreError::NoFile(path.clone()),
        }),
        StateLocation::File(path) => Ok(SqliteState::open(path)?),
    }
}
