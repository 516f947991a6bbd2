//! The parent's side of a process that compiles one component.

use std::io::{self, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::component::LoadError;
use crate::component::key::Key;
use crate::text::printable;

use super::frame::{Allowance, Reply};
use super::{CompilerCommand, MESSAGE};

/// More threads make a large component no faster, and each of them takes memory.
const THREADS: u32 = 8;

/// Starts a process, gives it the component, and takes the code that it gives back. The process has ended afterwards,
/// whatever it did.
pub(super) fn compile(
    command: &CompilerCommand,
    bytes: Arc<Vec<u8>>,
    key: &Key,
    deadline: Duration,
) -> Result<Vec<u8>, LoadError> {
    let mut child = Ended(start(command).map_err(LoadError::CompilerMissing)?);
    let allowance = Allowance { memory: command.memory, processor: deadline * THREADS + Duration::from_secs(1) };
    let reply = talk(&mut child.0, allowance, bytes).map_err(LoadError::CompilerMissing)?.recv_timeout(deadline);
    let status = child.end();
    match reply {
        Ok(Ok(Reply::Code { key: compiled, code })) if compiled == key.as_str() => Ok(code),
        Ok(Ok(Reply::Code { .. })) => Err(LoadError::CompilerDiffers),
        Ok(Ok(Reply::Refused(reason))) => Err(LoadError::Invalid(printable(&reason, MESSAGE))),
        Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
            Err(LoadError::CompilerDied { how: described(status), memory: command.memory })
        }
        Err(RecvTimeoutError::Timeout) => Err(LoadError::CompileTooLong { seconds: deadline.as_secs_f64() }),
    }
}

fn start(command: &CompilerCommand) -> io::Result<Child> {
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get().min(THREADS as usize));
    Command::new(&command.program)
        .args(&command.arguments)
        // What the environment holds is nothing that a compiler needs.
        .env_clear()
        .env("RAYON_NUM_THREADS", threads.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // A compiler that fails repeats names that the component chose.
        .stderr(Stdio::null())
        .spawn()
}

/// Writes the question and reads the reply, each on a thread of its own: a process that does not do its part holds up one of
/// the two until it is ended, and nobody else.
fn talk(child: &mut Child, allowance: Allowance, bytes: Arc<Vec<u8>>) -> io::Result<mpsc::Receiver<io::Result<Reply>>> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (Some(mut stdin), Some(mut stdout)) = (stdin, stdout) else { return Err(io::ErrorKind::BrokenPipe.into()) };
    let write = move || {
        // A process that does not read says why in its reply, or with its end.
        let _ = allowance.write(&mut stdin).and_then(|()| stdin.write_all(&bytes));
    };
    thread::Builder::new().name("callgate-to-compiler".into()).spawn(write)?;
    let (send, receive) = mpsc::channel();
    let read = move || {
        let _ = send.send(Reply::read(&mut stdout, allowance.memory));
    };
    thread::Builder::new().name("callgate-from-compiler".into()).spawn(read)?;
    Ok(receive)
}

/// A process that does not outlive its supervisor.
struct Ended(Child);

impl Ended {
    /// Ends the process and says how it ended. One that has ended by itself keeps its own status.
    fn end(&mut self) -> io::Result<ExitStatus> {
        // A process that has ended already can not be ended again, which is just as well.
        let _ = self.0.kill();
        self.0.wait()
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

fn described(status: io::Result<ExitStatus>) -> String {
    status.map_or_else(|error| error.to_string(), |status| status.to_string())
}
