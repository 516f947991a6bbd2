//! Compiling: one component at a time, for so long and no longer, away from the threads that serve.

mod child;
mod frame;
mod worker;

use std::ffi::OsString;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::text::printable;

use super::LoadError;
use super::key::Key;
use super::precompiled::OurCode;

pub use worker::compile_for_parent;

/// The most characters that a compiler's message may have: it can contain names that a component chose.
const MESSAGE: usize = 1_024;

/// What compiles components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Compiler {
    /// A thread of this process. Nothing can stop it: past the deadline the component does not load, and no other one is
    /// compiled until the thread has ended. What it may allocate is not limited.
    #[default]
    InProcess,
    /// A process for each component, which is ended at the deadline.
    Child(CompilerCommand),
}

/// How to start a process that runs [`compile_for_parent`] over its standard input and output.
///
/// It must be this very program, or one that is built from the same sources: the code that it writes is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompilerCommand {
    /// The program.
    pub program: PathBuf,
    /// What it is started with.
    pub arguments: Vec<OsString>,
    /// The most memory, in bytes, that it may take.
    pub memory: u64,
}

/// A component that was just compiled.
pub(super) struct Compiled {
    pub(super) component: Component,
    /// For whoever waits: held until it is known that this component need not be compiled again.
    pub(super) turn: Turn,
    /// The same as bytes; none when nobody asked for them.
    pub(super) code: Option<Vec<u8>>,
}

/// Whether the bytes of compiled code are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keep {
    Code,
    Nothing,
}

/// Where components are compiled.
#[derive(Debug)]
pub(super) struct Workshop {
    // INVARIANT: whoever compiles holds the one permit until its thread has ended, however long ago its deadline was.
    turn: Arc<Semaphore>,
    compiler: Compiler,
    deadline: Duration,
}

/// Why nothing was compiled in time.
#[derive(Debug)]
pub(super) enum Late {
    /// Another one compiles.
    Waiting,
    /// This one takes too long.
    Compiling,
}

impl Workshop {
    pub(super) fn new(compiler: Compiler, deadline: Duration) -> Self {
        Self { turn: Arc::new(Semaphore::new(1)), compiler, deadline }
    }

    /// Waits until nothing else compiles.
    pub(super) async fn turn(&self) -> Result<Turn, LoadError> {
        match timeout(self.deadline, self.turn.clone().acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Turn(permit)),
            Ok(Err(_)) => Err(LoadError::Interrupted),
            Err(_) => Err(self.late(Late::Waiting)),
        }
    }

    /// Compiles on a thread of its own: the pool of the async runtime would wait for a thread that hangs when it ends.
    pub(super) async fn compile(
        &self,
        turn: Turn,
        engine: &Engine,
        bytes: Arc<Vec<u8>>,
        key: Key,
        keep: Keep,
    ) -> Result<Compiled, LoadError> {
        let (send, receive) = oneshot::channel();
        let (engine, compiler, deadline) = (engine.clone(), self.compiler.clone(), self.deadline);
        let work = move || {
            let compiled = match &compiler {
                Compiler::InProcess => in_process(&engine, &bytes, keep),
                Compiler::Child(command) => in_child(command, &engine, bytes, &key, deadline, keep),
            };
            // Whoever asked may have given up, and then the turn ends here.
            let _ = send.send(compiled.map(|(component, code)| Compiled { component, turn, code }));
        };
        thread::Builder::new().name("callgate-compile".into()).spawn(work).map_err(LoadError::CompilerMissing)?;
        let answer = match &self.compiler {
            Compiler::InProcess => timeout(deadline, receive).await.map_err(|_| self.late(Late::Compiling))?,
            // It keeps the deadline itself, and has ended the process when it answers.
            Compiler::Child(_) => receive.await,
        };
        answer.unwrap_or(Err(LoadError::Interrupted))
    }

    fn late(&self, late: Late) -> LoadError {
        let seconds = self.deadline.as_secs_f64();
        match late {
            Late::Waiting => LoadError::CompilerBusy { seconds },
            Late::Compiling => LoadError::CompileTooLong { seconds },
        }
    }
}

/// The right to compile.
pub(super) struct Turn(#[expect(dead_code, reason = "it is held, not looked at")] tokio::sync::OwnedSemaphorePermit);

fn in_process(engine: &Engine, bytes: &[u8], keep: Keep) -> Result<(Component, Option<Vec<u8>>), LoadError> {
    let component = survived(|| Component::from_binary(engine, bytes))?;
    let code = match keep {
        Keep::Code => Some(component.serialize().map_err(|error| LoadError::Invalid(message(&error)))?),
        Keep::Nothing => None,
    };
    Ok((component, code))
}

fn in_child(
    command: &CompilerCommand,
    engine: &Engine,
    bytes: Arc<Vec<u8>>,
    key: &Key,
    deadline: Duration,
    keep: Keep,
) -> Result<(Component, Option<Vec<u8>>), LoadError> {
    let code = child::compile(command, bytes, key, deadline)?;
    // It is our own child and the key says that it compiled this component under our settings.
    let component = survived(|| OurCode(&code).load(engine))?;
    Ok((component, (keep == Keep::Code).then_some(code)))
}

/// A fault in the compiler must not be more than a component that does not load.
fn survived<T>(work: impl FnOnce() -> wasmtime::Result<T>) -> Result<T, LoadError> {
    panic::catch_unwind(AssertUnwindSafe(work))
        .map_err(|_| LoadError::Invalid("the compiler gave up".into()))?
        .map_err(|error| LoadError::Invalid(message(&error)))
}

pub(super) fn message(error: &wasmtime::Error) -> String {
    printable(&format!("{error:#}"), MESSAGE)
}
