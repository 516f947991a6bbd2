//! An upstream as a child process.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::process;

use super::transport::{Command, Opened};

/// How long a child is given to end by itself, and again after it was told to.
const GRACE: Duration = Duration::from_secs(2);

/// A child process. It does not outlive this value.
#[derive(Debug)]
pub(super) struct Child(process::Child);

/// Starts a child whose standard input and output are the connection. Its standard error is the gateway's.
pub(super) fn start(command: &Command) -> io::Result<Opened> {
    let mut process = process::Command::new(&command.program);
    process
        .args(&command.arguments)
        .envs(command.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .kill_on_drop(true);
    if let Some(directory) = &command.directory {
        process.current_dir(directory);
    }
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", command.program));
    let mut child = process.spawn().map_err(named)?;
    let (Some(writer), Some(reader)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the child has no standard input or output"));
    };
    Ok(Opened { reader: Box::new(reader), writer: Box::new(writer), child: Some(Child(child)) })
}

impl Child {
    /// Waits for a child whose standard input was closed, then asks it to end, then kills it.
    pub(super) async fn end(mut self) {
        if tokio::time::timeout(GRACE, self.0.wait()).await.is_ok() {
            return;
        }
        self.terminate();
        if tokio::time::timeout(GRACE, self.0.wait()).await.is_err() {
            // A child that is gone already can't be killed, which is as well.
            let _ = self.0.kill().await;
        }
    }

    #[cfg(unix)]
    fn terminate(&self) {
        let id = self.0.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
        if let Some(id) = id {
            // The child may have ended meanwhile; it has not been waited for, so the id is still its own.
            let _ = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
    }

    #[cfg(not(unix))]
    fn terminate(&self) {}
}
