//! A stand-in for the host, so that a listener's own code runs in native unit tests as it stands. Not part of components.
//!
//! ```
//! use callgate_guest::testing::{TestHost, call};
//! use callgate_guest::{config, state};
//!
//! let host = TestHost::new().configure("tools", r#"["files__write"]"#);
//! assert_eq!(config::get("tools"), Ok(Some(vec!["files__write".to_owned()])));
//! state::set("seen", &call("files__write", "{}").id, state::Keep::Forever)?;
//! assert_eq!(host.stored("seen").len(), 1);
//! # Ok::<(), state::StateError>(())
//! ```

pub(crate) mod host;
mod samples;

use std::time::Duration;

use crate::Row;

pub use samples::{call, caller, report, row};

/// The host as this thread's listeners see it: configuration, state, rows, log, and a clock for expiries that only moves
/// when it is told to.
#[derive(Debug)]
pub struct TestHost(());

impl Default for TestHost {
    fn default() -> Self {
        Self::new()
    }
}

impl TestHost {
    /// A host with nothing in it, in place of whatever this thread had.
    pub fn new() -> Self {
        host::with(|host| *host = host::Contents::default());
        Self(())
    }

    /// Configures a value, given as JSON text.
    #[must_use]
    pub fn configure(self, key: &str, json: &str) -> Self {
        host::with(|host| host.config.insert(key.to_owned(), json.to_owned()));
        self
    }

    /// Registers the rows that a grant hook decides over.
    #[must_use]
    pub fn register(self, rows: impl IntoIterator<Item = Row>) -> Self {
        host::with(|host| host.rows.extend(rows.into_iter().map(|row| (row.identifier.clone(), row))));
        self
    }

    /// Lets time pass, for expiries.
    pub fn pass(&self, time: Duration) {
        host::with(|host| host.now += time);
    }

    /// The keys in the store that start with the prefix, with their values, in the order of the keys.
    pub fn stored(&self, prefix: &str) -> Vec<(String, String)> {
        host::with(|host| {
            let live = host.state.iter().filter(|(key, value)| key.starts_with(prefix) && value.is_live(host.now));
            live.map(|(key, value)| (key.clone(), value.text.clone())).collect()
        })
    }

    /// What was logged so far.
    pub fn logged(&self) -> Vec<String> {
        host::with(|host| host.lines.clone())
    }
}
