//! The sandbox of a process: what components are loaded into.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::Semaphore;
use wasmtime::component::Linker;

use crate::abi::v0_1;
use crate::capabilities;
use crate::component::{ComponentStore, LoadError, LoadedComponent, Loads, Pin};
use crate::engine::{EngineError, SandboxConfig, SandboxEngine};
use crate::event::EventState;
use crate::keeper::Keeper;
use crate::lane::Lane;

/// Runs the listeners of one process. Make one and clone it: an engine reserves address space for every event that it can
/// run, and has a thread that keeps its deadlines.
#[derive(Clone, Debug)]
pub struct Sandbox {
    inner: Arc<Inner>,
    components: Arc<ComponentStore>,
}

pub(crate) struct Inner {
    pub(crate) engine: SandboxEngine,
    pub(crate) linker: Linker<EventState>,
    pub(crate) keeper: Keeper,
    pub(crate) lane: Lane,
    // INVARIANT: the places of events, those in the slow lane, and the shares of instances that are made ahead are together as
    // many as the pool has instances, so nobody who has one of them is refused by the pool.
    pub(crate) places: Arc<Semaphore>,
    pub(crate) slow_places: Arc<Semaphore>,
    /// For those that wait for one of the slow places.
    pub(crate) parking: Semaphore,
    pub(crate) shares: Arc<Semaphore>,
    pub(crate) config: SandboxConfig,
}

impl Sandbox {
    /// Starts the engine and its clock, and proves that a guest that never ends is stopped.
    ///
    /// # Errors
    /// When the machine does not let the engine or its clock start.
    pub fn new(config: SandboxConfig) -> Result<Self, EngineError> {
        let engine = SandboxEngine::start(&config)?;
        let mut linker = Linker::new(&engine.engine);
        link(&mut linker).map_err(|error| EngineError::Engine(format!("{error:#}")))?;
        let keeper = Keeper::start().map_err(EngineError::Keeper)?;
        let semaphore = |permits: u32| Semaphore::new(usize::try_from(permits).unwrap_or(Semaphore::MAX_PERMITS));
        let lane = Lane::slow().map_err(EngineError::SlowLane)?;
        let [places, slow_places, shares] =
            [config.slots, config.slow_slots(), config.ready].map(|permits| Arc::new(semaphore(permits)));
        let parking = semaphore(config.slow_slots());
        let components = Arc::new(ComponentStore::new(&config));
        let inner = Arc::new(Inner { engine, linker, keeper, lane, places, slow_places, parking, shares, config });
        Ok(Self { inner, components })
    }

    /// Loads the component in that file. It is compiled away from the threads of the async runtime, and only once for all
    /// files with the same bytes. A component in JavaScript or Python takes seconds to compile, unless the cache has its code.
    ///
    /// # Errors
    /// When the file is no component that could be a listener, or not the one that is pinned.
    pub async fn load(&self, path: &Path, pin: Option<&Pin>) -> Result<Arc<LoadedComponent>, LoadError> {
        self.components.load(&self.inner, path, pin).await
    }

    /// Loads the component with those bytes.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub async fn load_bytes(&self, bytes: Vec<u8>, pin: Option<&Pin>) -> Result<Arc<LoadedComponent>, LoadError> {
        self.components.load_bytes(&self.inner, bytes, pin).await
    }

    pub(crate) fn self_test(&self) -> Result<(), EngineError> {
        self.inner.engine.prove_interruption()
    }

    /// How often components were compiled and how often the cache had their code.
    pub fn loads(&self) -> Loads {
        self.components.loads()
    }
}

impl fmt::Debug for Inner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inner").field("config", &self.config).finish_non_exhaustive()
    }
}

fn link(linker: &mut Linker<EventState>) -> wasmtime::Result<()> {
    capabilities::link(linker)?;
    v0_1::link(linker)
}
