//! State in memory: for tests, and for hosts whose listeners keep nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::{StateError, StateStore, check_bounds, incremented};

/// A [`StateStore`] that is gone when the process ends.
#[derive(Debug, Default)]
pub struct MemoryState {
    values: Mutex<BTreeMap<(String, String), Stored>>,
}

#[derive(Debug)]
struct Stored {
    value: String,
    expires: Option<Instant>,
}

impl MemoryState {
    /// One atomic step: `decide` sees the value that is there and gives what is to be there, or none to leave it as it is.
    fn step<T>(
        &self,
        (scope, key): (&str, &str),
        expiry: Option<Duration>,
        decide: impl FnOnce(Option<&str>) -> Result<(T, Option<Change>), StateError>,
    ) -> Result<T, StateError> {
        // No step leaves the map half changed, so a panic elsewhere does not spoil it.
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = (scope.to_owned(), key.to_owned());
        if values.get(&slot).is_some_and(|stored| stored.expires.is_some_and(|at| at <= Instant::now())) {
            values.remove(&slot);
        }
        let (told, change) = decide(values.get(&slot).map(|stored| stored.value.as_str()))?;
        match change {
            Some(Change::Store(value)) => {
                let expires = expiry.and_then(|after| Instant::now().checked_add(after));
                values.insert(slot, Stored { value, expires });
            }
            Some(Change::Remove) => {
                values.remove(&slot);
            }
            None => {}
        }
        Ok(told)
    }
}

enum Change {
    Store(String),
    Remove,
}

#[async_trait]
impl StateStore for MemoryState {
    async fn get(&self, scope: &str, key: &str) -> Result<Option<String>, StateError> {
        check_bounds(key, None)?;
        self.step((scope, key), None, |now| Ok((now.map(str::to_owned), None)))
    }

    async fn compare_and_swap(
        &self,
        scope: &str,
        key: &str,
        expected: Option<&str>,
        replacement: Option<&str>,
        expiry: Option<Duration>,
    ) -> Result<bool, StateError> {
        check_bounds(key, replacement)?;
        self.step((scope, key), expiry, |now| {
            let swaps = now == expected;
            let change = replacement.map_or(Change::Remove, |value| Change::Store(value.to_owned()));
            Ok((swaps, swaps.then_some(change)))
        })
    }

    async fn set(&self, scope: &str, key: &str, value: &str, expiry: Option<Duration>) -> Result<(), StateError> {
        check_bounds(key, Some(value))?;
        self.step((scope, key), expiry, |_| Ok(((), Some(Change::Store(value.to_owned())))))
    }

    async fn put_if_absent(
        &self,
        scope: &str,
        key: &str,
        value: &str,
        expiry: Option<Duration>,
    ) -> Result<Option<String>, StateError> {
        check_bounds(key, Some(value))?;
        self.step((scope, key), expiry, |now| {
            let change = now.is_none().then(|| Change::Store(value.to_owned()));
            Ok((now.map(str::to_owned), change))
        })
    }

    async fn increment(&self, scope: &str, key: &str, by: i32, expiry: Option<Duration>) -> Result<i32, StateError> {
        check_bounds(key, None)?;
        self.step((scope, key), expiry, |now| {
            let sum = incremented(now, by)?;
            Ok((sum, Some(Change::Store(sum.to_string()))))
        })
    }

    async fn delete(&self, scope: &str, key: &str) -> Result<bool, StateError> {
        check_bounds(key, None)?;
        self.step((scope, key), None, |now| Ok((now.is_some(), Some(Change::Remove))))
    }

    async fn scan(&self, scope: &str, prefix: &str, limit: usize) -> Result<Vec<(String, String)>, StateError> {
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let from = (scope.to_owned(), prefix.to_owned());
        let found = values
            .range(from..)
            .take_while(|((found, key), _)| found == scope && key.starts_with(prefix))
            .filter(|(_, stored)| stored.expires.is_none_or(|at| at > now))
            .take(limit)
            .map(|((_, key), stored)| (key.clone(), stored.value.clone()));
        Ok(found.collect())
    }
}
