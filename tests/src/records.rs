//! What was logged, record by record, as an operator reads it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tracing_subscriber::util::SubscriberInitExt;

/// Keeps what this thread logs, from the level of information on, until it is dropped.
pub struct Records {
    lines: Lines,
    _subscriber: tracing::subscriber::DefaultGuard,
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Records {
    /// From here on. A test whose runtime has one thread sees all that comes of it.
    pub fn of_this_thread() -> Self {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt().json().with_writer(move || writer.clone()).set_default();
        Self { lines, _subscriber: subscriber }
    }

    /// The fields of every record with that message since the last look, which forgets all others.
    pub fn take(&self, message: &str) -> Vec<Value> {
        let lines = std::mem::take(&mut *self.lines.0.lock().unwrap_or_else(PoisonError::into_inner));
        let lines = String::from_utf8(lines).expect("records are text");
        let records =
            lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a record is one line of JSON"));
        records.map(|record| record["fields"].clone()).filter(|fields| fields["message"] == message).collect()
    }
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}
