//! Listeners' values in one SQLite file: they outlive the process, and several processes may share them.

mod step;
mod connection;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use callgate_core::state::{StateError, StateStore, check_bounds, incremented};
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use step::Step;

/// Values in one SQLite file.
///
/// Each operation is one transaction, and each that writes holds the file's write lock from its start, so that steps of
/// several processes never interleave. An operation whose future is dropped, because its listener met its deadline or the
/// caller went away, still completes once it was begun: like any store across a connection it may have happened without anyone
/// hearing of it. One that still waits for its turn never happens.
///
/// What was written survives the death of the process. A power cut may take the last moments with it, never more.
#[derive(Clone)]
pub struct SqliteState {
    path: PathBuf,
    connection: Arc<Mutex<Connection>>,
    turns: Arc<Turns>,
}

/// Whose operation is next. They wait here and not on threads of the runtime's pool, which serves everybody; and a scope has
/// one in the queue, so that one that floods the store is in its own way.
#[derive(Debug)]
struct Turns {
    next: Arc<Semaphore>,
    scopes: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// An operation may use the connection.
struct Turn {
    _next: OwnedSemaphorePermit,
    _of_scope: OwnedSemaphorePermit,
}

impl Turns {
    fn new() -> Self {
        Self { next: Arc::new(Semaphore::new(1)), scopes: Mutex::default() }
    }

    async fn take(&self, scope: &str) -> Result<Turn, StateError> {
        let closed = |_| StateError::Unavailable("the store is closed".into());
        let of_scope = {
            let mut scopes = self.scopes.lock().unwrap_or_else(PoisonError::into_inner);
            scopes.entry(scope.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(1))).clone()
        };
        let of_scope = of_scope.acquire_owned().await.map_err(closed)?;
        Ok(Turn { _next: self.next.clone().acquire_owned().await.map_err(closed)?, _of_scope: of_scope })
    }
}

/// One value with what an operator wants to know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredValue {
    /// Its key.
    pub key: String,
    /// The value.
    pub value: String,
    /// When it expires; none when it stays.
    pub expires: Option<SystemTime>,
}

impl SqliteState {
    /// Opens the file, and creates it, readable by its owner only, where there is none.
    ///
    /// # Errors
    /// When the file can not be opened or is not one of ours. The text names the file.
    pub fn open(path: &Path) -> Result<Self, StateError> {
        let connection =
            connection::open(path).map_err(|error| StateError::Unavailable(format!("{}: {error}", path.display())))?;
        Ok(Self { path: path.into(), connection: Arc::new(Mutex::new(connection)), turns: Arc::new(Turns::new()) })
    }

    /// All values of a scope whose keys start with the prefix, in the order of the keys.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn values(&self, scope: &str, prefix: &str) -> Result<Vec<StoredValue>, StateError> {
        let (own, prefix) = (scope.to_owned(), prefix.to_owned());
        self.blocking(scope, TransactionBehavior::Deferred, move |step| step.values(&own, &prefix, usize::MAX)).await
    }

    /// Runs one transaction off the runtime's own threads. A task that blocks can not be cancelled, which is what makes a
    /// dropped operation complete.
    async fn blocking<T: Send + 'static>(
        &self,
        scope: &str,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Step<'_>) -> Result<T, StateError> + Send + 'static,
    ) -> Result<T, StateError> {
        let connection = self.connection.clone();
        let turn = self.turns.take(scope).await?;
        let task = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            // A panic inside a step rolled its transaction back, so the connection is as good as before.
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            let step = Step::begin(&mut connection, behavior)?;
            let result = work(&step)?;
            step.commit()?;
            Ok(result)
        });
        task.await.unwrap_or_else(|error| Err(StateError::Unavailable(error.to_string())))
    }

    async fn writing<T: Send + 'static>(
        &self,
        scope: &str,
        work: impl FnOnce(&Step<'_>) -> Result<T, StateError> + Send + 'static,
    ) -> Result<T, StateError> {
        self.blocking(scope, TransactionBehavior::Immediate, work).await
    }
}

#[async_trait]
impl StateStore for SqliteState {
    async fn get(&self, scope: &str, key: &str) -> Result<Option<String>, StateError> {
        check_bounds(key, None)?;
        let (own, key) = (scope.to_owned(), key.to_owned());
        self.blocking(scope, TransactionBehavior::Deferred, move |step| step.get(&own, &key)).await
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
        let (own, key) = (scope.to_owned(), key.to_owned());
        let (expected, replacement) = (expected.map(str::to_owned), replacement.map(str::to_owned));
        self.writing(scope, move |step| {
            if step.get(&own, &key)? != expected {
                return Ok(false);
            }
            match replacement {
                Some(value) => step.put(&own, &key, &value, expiry)?,
                None => step.remove(&own, &key)?,
            }
            Ok(true)
        })
        .await
    }

    async fn set(&self, scope: &str, key: &str, value: &str, expiry: Option<Duration>) -> Result<(), StateError> {
        check_bounds(key, Some(value))?;
        let (own, key, value) = (scope.to_owned(), key.to_owned(), value.to_owned());
        self.writing(scope, move |step| step.put(&own, &key, &value, expiry)).await
    }

    async fn put_if_absent(
        &self,
        scope: &str,
        key: &str,
        value: &str,
        expiry: Option<Duration>,
    ) -> Result<Option<String>, StateError> {
        check_bounds(key, Some(value))?;
        let (own, key, value) = (scope.to_owned(), key.to_owned(), value.to_owned());
        self.writing(scope, move |step| {
            let present = step.get(&own, &key)?;
            if present.is_none() {
                step.put(&own, &key, &value, expiry)?;
            }
            Ok(present)
        })
        .await
    }

    async fn increment(&self, scope: &str, key: &str, by: i32, expiry: Option<Duration>) -> Result<i32, StateError> {
        check_bounds(key, None)?;
        let (own, key) = (scope.to_owned(), key.to_owned());
        self.writing(scope, move |step| {
            let sum = incremented(step.get(&own, &key)?.as_deref(), by)?;
            step.put(&own, &key, &sum.to_string(), expiry)?;
            Ok(sum)
        })
        .await
    }

    async fn delete(&self, scope: &str, key: &str) -> Result<bool, StateError> {
        check_bounds(key, None)?;
        let (own, key) = (scope.to_owned(), key.to_owned());
        self.writing(scope, move |step| {
            let present = step.get(&own, &key)?.is_some();
            step.remove(&own, &key)?;
            Ok(present)
        })
        .await
    }

    async fn scan(&self, scope: &str, prefix: &str, limit: usize) -> Result<Vec<(String, String)>, StateError> {
        let (own, prefix) = (scope.to_owned(), prefix.to_owned());
        let values =
            self.blocking(scope, TransactionBehavior::Deferred, move |step| step.values(&own, &prefix, limit)).await?;
        Ok(values.into_iter().map(|stored| (stored.key, stored.value)).collect())
    }
}

impl fmt::Debug for SqliteState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteState").field("path", &self.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
