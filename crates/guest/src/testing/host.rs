//! The imports of a component, over a thread's own values.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use crate::Row;

/// What the stand-in holds.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    pub(crate) config: BTreeMap<String, String>,
    pub(crate) state: BTreeMap<String, Value>,
    pub(crate) rows: BTreeMap<String, Row>,
    pub(crate) lines: Vec<String>,
    pub(crate) now: Duration,
}

#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) text: String,
    expires: Option<Duration>,
}

impl Value {
    pub(crate) fn is_live(&self, now: Duration) -> bool {
        self.expires.is_none_or(|expires| now < expires)
    }
}

thread_local! {
    static CONTENTS: RefCell<Contents> = RefCell::default();
}

pub(crate) fn with<T>(act: impl FnOnce(&mut Contents) -> T) -> T {
    CONTENTS.with_borrow_mut(act)
}

pub(crate) mod config {
    pub(crate) fn get(key: &str) -> Option<String> {
        super::with(|host| host.config.get(key).cloned())
    }
}

pub(crate) mod log {
    pub(crate) use crate::bindings::shared::callgate::host::log::Level;

    pub(crate) fn write(level: Level, message: &str) {
        super::with(|host| host.lines.push(format!("{level:?}: {message}")));
    }
}

pub(crate) mod registry {
    use crate::Row;

    /// How many rows there are.
    pub fn count() -> u32 {
        super::with(|host| u32::try_from(host.rows.len()).unwrap_or(u32::MAX))
    }

    /// The row of that name, if there is one.
    pub fn find(identifier: &str) -> Option<Row> {
        super::with(|host| host.rows.get(identifier).cloned())
    }

    /// At most `length` rows from the `start`th on, ordered by identifier, at most 1,000 at once.
    pub fn rows(start: u32, length: u32) -> Vec<Row> {
        super::with(|host| host.rows.values().skip(start as usize).take(length.min(1_000) as usize).cloned().collect())
    }
}

pub(crate) mod state {
    use std::time::Duration;

    use super::{Contents, Value, with};
    pub(crate) use crate::bindings::shared::callgate::host::state::Error;

    pub(crate) fn get(key: &str) -> Result<Option<String>, Error> {
        check(key, None)?;
        Ok(with(|host| live(host, key)))
    }

    pub(crate) fn set(key: &str, value: &str, expiry_ms: Option<u32>) -> Result<(), Error> {
        check(key, Some(value))?;
        with(|host| put(host, key, value, expiry_ms));
        Ok(())
    }

    pub(crate) fn put_if_absent(key: &str, value: &str, expiry_ms: Option<u32>) -> Result<Option<String>, Error> {
        check(key, Some(value))?;
        with(|host| {
            let there = live(host, key);
            if there.is_none() {
                put(host, key, value, expiry_ms);
            }
            Ok(there)
        })
    }

    pub(crate) fn compare_and_swap(
        key: &str,
        expected: Option<&str>,
        replacement: Option<&str>,
        expiry_ms: Option<u32>,
    ) -> Result<bool, Error> {
        check(key, replacement)?;
        with(|host| {
            if live(host, key).as_deref() != expected {
                return Ok(false);
            }
            match replacement {
                Some(value) => put(host, key, value, expiry_ms),
                None => drop(host.state.remove(key)),
            }
            Ok(true)
        })
    }

    pub(crate) fn increment(key: &str, by: i32, expiry_ms: Option<u32>) -> Result<i32, Error> {
        check(key, None)?;
        with(|host| {
            let now: i32 = live(host, key).map_or(Ok(0), |text| text.parse()).map_err(|_| Error::NotANumber)?;
            let sum = now.checked_add(by).ok_or(Error::NotANumber)?;
            put(host, key, &sum.to_string(), expiry_ms);
            Ok(sum)
        })
    }

    pub(crate) fn remove(key: &str) -> Result<bool, Error> {
        check(key, None)?;
        with(|host| {
            let was_live = live(host, key).is_some();
            host.state.remove(key);
            Ok(was_live)
        })
    }

    fn check(key: &str, value: Option<&str>) -> Result<(), Error> {
        let fits = (1..=512).contains(&key.len()) && value.is_none_or(|value| value.len() <= 1_024 * 1_024);
        if fits { Ok(()) } else { Err(Error::OutOfBounds) }
    }

    fn live(host: &Contents, key: &str) -> Option<String> {
        host.state.get(key).filter(|value| value.is_live(host.now)).map(|value| value.text.clone())
    }

    fn put(host: &mut Contents, key: &str, value: &str, expiry_ms: Option<u32>) {
        let expires = expiry_ms.map(|ms| host.now + Duration::from_millis(ms.into()));
        host.state.insert(key.to_owned(), Value { text: value.to_owned(), expires });
    }
}
