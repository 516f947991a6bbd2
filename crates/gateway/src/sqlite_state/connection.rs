//! Opening the file.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

/// How long a step waits for one of another process. A listener's deadline is shorter, so this only bounds how long an
/// operation that nobody waits for any more keeps trying.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// The layout that this version reads and writes.
const LAYOUT: i32 = 1;

/// Why the file could not be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    #[error("{0}")]
    File(#[from] io::Error),
    #[error("{0}")]
    Sqlite(#[from] rusqlite::Error),
    #[error("its layout is {0}, and this version of callgate only knows {LAYOUT}")]
    Layout(i32),
}

pub(super) fn open(path: &Path) -> Result<Connection, OpenError> {
    create(path)?;
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    connection.pragma_update(None, "synchronous", "normal")?;
    prepare(&mut connection)?;
    Ok(connection)
}

/// Arguments and results of tools are nobody else's business. SQLite gives its side files the rights of the main one.
fn create(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(|_| ())
}

/// Two processes may meet a new file at the same time: the layout is read and made under the write lock.
fn prepare(connection: &mut Connection) -> Result<(), OpenError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    match transaction.pragma_query_value(None, "user_version", |row| row.get(0))? {
        LAYOUT => {}
        0 => {
            transaction.execute_batch(
                "create table entry (
                     scope text not null, key text not null, value text not null, expires integer,
                     primary key (scope, key)
                 ) strict, without rowid;
                 create index entry_expires on entry (expires) where expires is not null;",
            )?;
            transaction.pragma_update(None, "user_version", LAYOUT)?;
        }
        other => return Err(OpenError::Layout(other)),
    }
    transaction.commit()?;
    Ok(())
}
