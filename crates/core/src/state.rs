//! What outlives a call: keyed values, each step of them atomic.

mod memory;
mod overlay;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

pub use memory::MemoryState;
pub use overlay::ScratchState;

/// The longest key, in bytes. Keys are not empty.
pub const MAX_KEY: usize = 512;
/// The largest value, in bytes.
pub const MAX_VALUE: usize = 1_024 * 1_024;

/// Keyed values that outlive an event. Keys live in a scope, one for each listener: scopes never meet (F5). Each method is
/// one atomic step, for all processes that share the store. A value whose expiry has passed is as good as absent; without
/// one it stays.
#[async_trait]
pub trait StateStore: Send + Sync + fmt::Debug {
    /// The value, or none.
    async fn get(&self, scope: &str, key: &str) -> Result<Option<String>, StateError>;

    /// Replaces `expected` (none: no value) with `replacement` (none: delete) and tells whether it did.
    async fn compare_and_swap(
        &self,
        scope: &str,
        key: &str,
        expected: Option<&str>,
        replacement: Option<&str>,
        expiry: Option<Duration>,
    ) -> Result<bool, StateError>;

    /// Stores the value, whatever was there.
    async fn set(&self, scope: &str, key: &str, value: &str, expiry: Option<Duration>) -> Result<(), StateError>;

    /// Stores the value if the key has none. Returns none if it did, and otherwise the value that is there.
    async fn put_if_absent(
        &self,
        scope: &str,
        key: &str,
        value: &str,
        expiry: Option<Duration>,
    ) -> Result<Option<String>, StateError>;

    /// Adds to a whole number, which starts at 0, and returns the sum.
    async fn increment(&self, scope: &str, key: &str, by: i32, expiry: Option<Duration>) -> Result<i32, StateError>;

    /// Removes the value and tells whether there was one.
    async fn delete(&self, scope: &str, key: &str) -> Result<bool, StateError>;

    /// Keys that start with the prefix and their values, in the order of the keys, at most `limit`. For operators: listeners
    /// cannot reach it.
    async fn scan(&self, scope: &str, prefix: &str, limit: usize) -> Result<Vec<(String, String)>, StateError>;
}

/// Why the store did not do as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The key is empty or longer than 512 bytes, or the value is larger than 1 MiB.
    #[error("a key has 1 to {MAX_KEY} bytes and a value at most {MAX_VALUE}")]
    OutOfBounds,
    /// An increment met a value that is no whole number, or a sum beyond 32 bits.
    #[error("not a whole number of 32 bits")]
    NotANumber,
    /// The store did not answer.
    #[error("the state store did not answer: {0}")]
    Unavailable(String),
}

/// Refuses a key or a value outside its bounds: the first thing that every store does.
///
/// # Errors
/// When one of them is.
pub fn check_bounds(key: &str, value: Option<&str>) -> Result<(), StateError> {
    let fits = (1..=MAX_KEY).contains(&key.len()) && value.is_none_or(|value| value.len() <= MAX_VALUE);
    if fits { Ok(()) } else { Err(StateError::OutOfBounds) }
}

/// The sum that an increment stores: the one place that says what counts as a number.
///
/// # Errors
/// When the value is no whole number or the sum is beyond 32 bits.
pub fn incremented(value: Option<&str>, by: i32) -> Result<i32, StateError> {
    let now: i32 = value.map_or(Ok(0), str::parse).map_err(|_| StateError::NotANumber)?;
    now.checked_add(by).ok_or(StateError::NotANumber)
}
