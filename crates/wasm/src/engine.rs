//! The one engine of a process: its settings, its clock, and how many events it runs at once.

mod settings;
mod ticker;

use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use wasmtime::{Engine, Instance, Module, Store, Trap};

use crate::component::Compiler;

use settings::Allocation;

pub(crate) use settings::{MOST_CORE_INSTANCES, MOST_TABLE_ELEMENTS};
pub(crate) use ticker::Heartbeat;

/// `(module (func loop br 0 end) (start 0))`: a guest that never ends.
const SPIN: &[u8] = &[
    0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x04, 0x01, 0x60, 0x00, 0x00, 0x03, 0x02, 0x01, 0x00, 0x08,
    0x01, 0x00, 0x0a, 0x09, 0x01, 0x07, 0x00, 0x03, 0x40, 0x0c, 0x00, 0x0b, 0x0b,
];

/// How long the proof of interruption may take, on a machine that is very busy.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a sandbox is made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxConfig {
    /// How many events may run at the same time, of all listeners together; half as many again may go
    /// on in the slow lane.
    pub slots: u32,
    /// How many instances may wait for an event, of all listeners together. They are made ahead and hold their memory.
    pub ready: u32,
    /// The most linear memory, in bytes, that any listener's limits may allow one event. A copy or fill inside the guest
    /// cannot be interrupted, so this is also what bounds how far an event overshoots its deadline.
    pub memory_ceiling: usize,
    /// The largest component file, in bytes.
    pub largest_file: u64,
    /// The folder that keeps compiled code for the next start; none to compile at every start. It must be the user's own:
    /// whoever can write to it decides what runs in this process.
    pub cache: Option<PathBuf>,
    /// How long a component may compile, and how long it may wait for the one before it.
    pub compile_deadline: Duration,
    /// What compiles.
    pub compiler: Compiler,
}

impl Default for SandboxConfig {
    /// 64 events at once, 64 instances ahead of them, 256 MiB of memory each at the most, files of at most 32 MiB; compiled in
    /// this process, in at most two minutes, at every start.
    fn default() -> Self {
        Self {
            slots: 64,
            ready: 64,
            memory_ceiling: 256 << 20,
            largest_file: 32 << 20,
            cache: None,
            compile_deadline: Duration::from_secs(120),
            compiler: Compiler::InProcess,
        }
    }
}

impl SandboxConfig {
    /// How many events may go on in the slow lane.
    pub(crate) fn slow_slots(&self) -> u32 {
        (self.slots / 2).max(1)
    }
}

/// Why there is no sandbox.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The WebAssembly engine does not start on this machine.
    #[error("the WebAssembly engine does not start: {0}")]
    Engine(String),
    /// The thread that wakes the deadlines could not be started.
    #[error("the thread that keeps deadlines does not start: {0}")]
    Ticker(#[source] std::io::Error),
    /// The thread that makes instances ahead could not be started.
    #[error("the thread that makes instances ahead does not start: {0}")]
    Keeper(#[source] std::io::Error),
    /// The threads on which long events go on could not be started.
    #[error("the threads on which long events go on do not start: {0}")]
    SlowLane(#[source] std::io::Error),
    /// A guest that never ends was not stopped, so no deadline would be kept.
    #[error("a guest that never ends was not stopped: no deadline would be kept")]
    NotInterruptible,
}

/// The engine and the clock that its deadlines hang on.
#[derive(Debug)]
pub(crate) struct SandboxEngine {
    pub(crate) engine: Engine,
    pub(crate) heartbeat: Heartbeat,
}

impl SandboxEngine {
    /// Starts the engine and proves that it stops a guest that never ends.
    pub(crate) fn start(config: &SandboxConfig) -> Result<Self, EngineError> {
        let engine = pooled_or_on_demand(config)?;
        let heartbeat = ticker::start(&engine).map_err(EngineError::Ticker)?;
        let started = Self { engine, heartbeat };
        started.prove_interruption()?;
        Ok(started)
    }

    pub(crate) fn prove_interruption(&self) -> Result<(), EngineError> {
        prove_interruption(&self.engine, PATIENCE)
    }
}

/// The pool reserves address space that some machines do not give. Events are slower without it and otherwise the same.
fn pooled_or_on_demand(config: &SandboxConfig) -> Result<Engine, EngineError> {
    let refused = match Engine::new(&settings::config(&Allocation::Pooled(config))) {
        Ok(engine) => return Ok(engine),
        Err(error) => error,
    };
    tracing::warn!(
        error = format!("{refused:#}"),
        "no pool of instances: this machine does not give the address space, so every event starts more slowly"
    );
    only_compiling()
}

/// An engine that compiles exactly what a sandbox runs, and runs nothing.
pub(crate) fn only_compiling() -> Result<Engine, EngineError> {
    Engine::new(&settings::config(&Allocation::OnDemand)).map_err(|error| EngineError::Engine(format!("{error:#}")))
}

/// Runs the guest on a thread of its own: should it not be stopped, the start has still to come back and say so.
fn prove_interruption(engine: &Engine, patience: Duration) -> Result<(), EngineError> {
    let module = Module::from_binary(engine, SPIN).map_err(|error| EngineError::Engine(format!("{error:#}")))?;
    let mut store = Store::new(engine, ());
    store.set_epoch_deadline(2);
    let (ended, end) = mpsc::channel();
    let spin = move || ended.send(Instance::new(&mut store, &module, &[]).map(|_| ()));
    thread::Builder::new().name("callgate-self-test".into()).spawn(spin).map_err(EngineError::Ticker)?;
    match end.recv_timeout(patience) {
        Ok(Err(error)) if error.downcast_ref() == Some(&Trap::Interrupt) => Ok(()),
        _ => Err(EngineError::NotInterruptible),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_without_a_clock_there_is_no_sandbox() {
        let engine = Engine::new(&settings::config(&Allocation::OnDemand)).unwrap();
        let refused = prove_interruption(&engine, Duration::from_millis(100)).unwrap_err();
        assert!(matches!(refused, EngineError::NotInterruptible), "{refused}");
        // The guest is still spinning.
        engine.increment_epoch();
        engine.increment_epoch();
        let heartbeat = ticker::start(&engine).unwrap();
        prove_interruption(&engine, PATIENCE).unwrap();
        assert!(heartbeat.is_alive(std::time::Instant::now()));
    }
}
