//! What outlives an event: keyed values of this listener alone, each function one atomic step.
//!
//! A component gets a new memory for every event, so this is the only place where anything lasts, also between a call's
//! before-call and after-call hook. The host grants it to a listener by `capabilities = ["state"]`. Keys have 1 to 512 bytes,
//! values at most 1 MiB.

use std::time::Duration;

use crate::host::state as store;

/// Why the store did not do as asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The configuration does not grant state to this listener.
    #[error("the host's configuration does not grant state to this listener")]
    Denied,
    /// The key, the value or the expiry is outside its bounds.
    #[error("a key has 1 to 512 bytes, a value at most 1 MiB and an expiry at most 49 days")]
    OutOfBounds,
    /// An increment met a value that is no whole number, or a sum beyond 32 bits.
    #[error("not a whole number of 32 bits")]
    NotANumber,
    /// The store did not answer.
    #[error("the state store did not answer: {0}")]
    Unavailable(String),
}

/// So that a hook can hand the error on with `?`, which fails the event.
impl From<StateError> for String {
    fn from(error: StateError) -> Self {
        error.to_string()
    }
}

impl From<store::Error> for StateError {
    fn from(error: store::Error) -> Self {
        match error {
            store::Error::Denied => Self::Denied,
            store::Error::OutOfBounds => Self::OutOfBounds,
            store::Error::NotANumber => Self::NotANumber,
            store::Error::Unavailable(detail) => Self::Unavailable(detail),
        }
    }
}

/// How long a value stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// For good.
    Forever,
    /// Until that much time has passed, at most about 49 days.
    For(Duration),
}

impl Keep {
    fn milliseconds(self) -> Result<Option<u32>, StateError> {
        match self {
            Self::Forever => Ok(None),
            Self::For(time) => u32::try_from(time.as_millis()).map(Some).map_err(|_| StateError::OutOfBounds),
        }
    }
}

/// The value, or none.
///
/// # Errors
/// [`StateError`], as everywhere here.
pub fn get(key: &str) -> Result<Option<String>, StateError> {
    Ok(store::get(key)?)
}

/// Stores the value, whatever was there.
///
/// # Errors
/// [`StateError`].
pub fn set(key: &str, value: &str, keep: Keep) -> Result<(), StateError> {
    Ok(store::set(key, value, keep.milliseconds()?)?)
}

/// Stores the value if the key has none. Returns none if it did, and otherwise the value that is there: of many that claim a
/// key at once, one gets none.
///
/// # Errors
/// [`StateError`].
pub fn put_if_absent(key: &str, value: &str, keep: Keep) -> Result<Option<String>, StateError> {
    Ok(store::put_if_absent(key, value, keep.milliseconds()?)?)
}

/// Replaces `expected` with `replacement` and tells whether it did: of many that replace one value at once, one does.
///
/// # Errors
/// [`StateError`].
pub fn replace(key: &str, expected: &str, replacement: &str, keep: Keep) -> Result<bool, StateError> {
    Ok(store::compare_and_swap(key, Some(expected), Some(replacement), keep.milliseconds()?)?)
}

/// Removes the value if it is still the expected one and tells whether it did.
///
/// # Errors
/// [`StateError`].
pub fn remove_if(key: &str, expected: &str) -> Result<bool, StateError> {
    Ok(store::compare_and_swap(key, Some(expected), None, None)?)
}

/// Adds to a whole number, which starts at 0, and returns the sum. The expiry counts from the last increment.
///
/// # Errors
/// [`StateError`].
pub fn increment(key: &str, by: i32, keep: Keep) -> Result<i32, StateError> {
    Ok(store::increment(key, by, keep.milliseconds()?)?)
}

/// Removes the value and tells whether there was one.
///
/// # Errors
/// [`StateError`].
pub fn remove(key: &str) -> Result<bool, StateError> {
    Ok(store::remove(key)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expiry_beyond_32_bits_is_refused_rather_than_cut() {
        let too_long = Keep::For(Duration::from_millis(u64::from(u32::MAX) + 1));
        assert_eq!(set("k", "v", too_long), Err(StateError::OutOfBounds));
        assert_eq!(set("k", "v", Keep::For(Duration::from_millis(u64::from(u32::MAX)))), Ok(()));
    }

    #[test]
    fn one_of_many_claims_and_one_of_many_replaces() {
        assert_eq!(put_if_absent("k", "first", Keep::Forever), Ok(None));
        assert_eq!(put_if_absent("k", "second", Keep::Forever), Ok(Some("first".into())));
        assert_eq!(replace("k", "second", "third", Keep::Forever), Ok(false));
        assert_eq!(replace("k", "first", "third", Keep::Forever), Ok(true));
        assert_eq!(remove_if("k", "first"), Ok(false));
        assert_eq!(remove_if("k", "third"), Ok(true));
        assert_eq!(get("k"), Ok(None));
    }
}
