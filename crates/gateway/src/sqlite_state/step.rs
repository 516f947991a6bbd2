//! What one transaction does.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use callgate_core::state::StateError;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::StoredValue;

/// One transaction and the moment for which it holds.
pub(super) struct Step<'a> {
    transaction: Transaction<'a>,
    now: i64,
}

impl<'a> Step<'a> {
    pub(super) fn begin(connection: &'a mut Connection, behavior: TransactionBehavior) -> Result<Self, StateError> {
        let transaction = connection.transaction_with_behavior(behavior).map_err(unavailable)?;
        // Read under the lock: a step that waited for it must not bring an expired value back.
        Ok(Self { transaction, now: now_ms() })
    }

    pub(super) fn commit(self) -> Result<(), StateError> {
        self.transaction.commit().map_err(unavailable)
    }

    pub(super) fn get(&self, scope: &str, key: &str) -> Result<Option<String>, StateError> {
        self.transaction
            .prepare_cached(
                "select value from entry where scope = ?1 and key = ?2 and (expires is null or expires > ?3)",
            )
            .and_then(|mut query| query.query_row(params![scope, key, self.now], |row| row.get(0)).optional())
            .map_err(unavailable)
    }

    pub(super) fn put(&self, scope: &str, key: &str, value: &str, expiry: Option<Duration>) -> Result<(), StateError> {
        let expires =
            expiry.map(|expiry| self.now.saturating_add(i64::try_from(expiry.as_millis()).unwrap_or(i64::MAX)));
        self.sweep()
            .and_then(|()| {
                self.transaction
                    .prepare_cached("insert or replace into entry (scope, key, value, expires) values (?1, ?2, ?3, ?4)")
            })
            .and_then(|mut statement| statement.execute(params![scope, key, value, expires]))
            .map(|_| ())
            .map_err(unavailable)
    }

    pub(super) fn remove(&self, scope: &str, key: &str) -> Result<(), StateError> {
        self.transaction
            .prepare_cached("delete from entry where scope = ?1 and key = ?2")
            .and_then(|mut statement| statement.execute(params![scope, key]))
            .map(|_| ())
            .map_err(unavailable)
    }

    /// Keys compare as bytes in SQLite and in Rust alike, so the matches are one run from the prefix on.
    pub(super) fn values(&self, scope: &str, prefix: &str, limit: usize) -> Result<Vec<StoredValue>, StateError> {
        let query = "select key, value, expires from entry
             where scope = ?1 and key >= ?2 and (expires is null or expires > ?3) order by key";
        let mut query = self.transaction.prepare_cached(query).map_err(unavailable)?;
        let rows = query.query_map(params![scope, prefix, self.now], |row| {
            let expires: Option<i64> = row.get(2)?;
            let expires = expires.map(|ms| UNIX_EPOCH + Duration::from_millis(ms.try_into().unwrap_or(0)));
            Ok(StoredValue { key: row.get(0)?, value: row.get(1)?, expires })
        });
        let rows = rows.map_err(unavailable)?;
        rows.take_while(|row| row.as_ref().map_or(true, |stored| stored.key.starts_with(prefix)))
            .take(limit)
            .collect::<Result<_, _>>()
            .map_err(unavailable)
    }

    /// Takes some of what has expired away with every write, so that the file does not grow with what nobody reads.
    fn sweep(&self) -> rusqlite::Result<()> {
        let mut statement = self.transaction.prepare_cached(
            "delete from entry where (scope, key) in (select scope, key from entry where expires <= ?1 limit 16)",
        )?;
        statement.execute([self.now]).map(|_| ())
    }
}

/// Expiry outlives the process, so it is told by the wall clock.
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn unavailable(error: rusqlite::Error) -> StateError {
    StateError::Unavailable(error.to_string())
}
