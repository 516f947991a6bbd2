//! Makes each component ready once, for as long as somebody uses it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use callgate_core::json::digest;
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::abi::v0_1;
use crate::engine::SandboxConfig;
use crate::sandbox::Inner;

use super::cache::Cache;
use super::compile::{Compiled, Keep, Workshop};
use super::key::Key;
use super::{LoadError, LoadedComponent, Pin, inspect, shape};

/// Compiled components by digest.
#[derive(Debug)]
pub(crate) struct ComponentStore {
    loaded: Mutex<HashMap<String, Weak<LoadedComponent>>>,
    workshop: Workshop,
    cache: Option<LazyCache>,
    compiled: AtomicU64,
    from_cache: AtomicU64,
}

/// How often components were made ready, since the sandbox started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loads {
    /// How often one was compiled.
    pub compiled: u64,
    /// How often its code was found in the cache.
    pub from_cache: u64,
}

/// A component as it came, with what names it.
struct Source {
    bytes: Arc<Vec<u8>>,
    digest: String,
}

impl ComponentStore {
    pub(crate) fn new(config: &SandboxConfig) -> Self {
        Self {
            loaded: Mutex::default(),
            workshop: Workshop::new(config.compiler.clone(), config.compile_deadline),
            cache: config.cache.clone().map(LazyCache::new),
            compiled: AtomicU64::new(0),
            from_cache: AtomicU64::new(0),
        }
    }

    pub(crate) fn loads(&self) -> Loads {
        Loads { compiled: self.compiled.load(Relaxed), from_cache: self.from_cache.load(Relaxed) }
    }

    /// The component in that file.
    pub(crate) async fn load(
        &self,
        sandbox: &Arc<Inner>,
        path: &Path,
        pin: Option<&Pin>,
    ) -> Result<Arc<LoadedComponent>, LoadError> {
        let (path, most) = (path.to_owned(), sandbox.config.largest_file);
        let source = blocking(move || Source::check(read(path, most)?)).await?;
        self.load_source(sandbox, source, pin).await
    }

    /// The component with those bytes.
    pub(crate) async fn load_bytes(
        &self,
        sandbox: &Arc<Inner>,
        bytes: Vec<u8>,
        pin: Option<&Pin>,
    ) -> Result<Arc<LoadedComponent>, LoadError> {
        let source = blocking(move || Source::check(bytes)).await?;
        self.load_source(sandbox, source, pin).await
    }

    async fn load_source(
        &self,
        sandbox: &Arc<Inner>,
        source: Source,
        pin: Option<&Pin>,
    ) -> Result<Arc<LoadedComponent>, LoadError> {
        if let Some(pin) = pin.filter(|pin| pin.as_str() != source.digest) {
            return Err(LoadError::DigestMismatch { expected: pin.as_str().to_owned(), actual: source.digest });
        }
        let engine = &sandbox.engine.engine;
        if let Some(component) = self.loaded(&source.digest) {
            return Ok(component);
        }
        let key = Key::new(engine, &source.digest);
        if let Some(component) = self.cached(engine, &key).await? {
            self.from_cache.fetch_add(1, Relaxed);
            return self.finish(sandbox, source, component).await;
        }
        let turn = self.workshop.turn().await?;
        // Whoever had the turn before may have compiled the same.
        if let Some(component) = self.loaded(&source.digest) {
            return Ok(component);
        }
        self.compiled.fetch_add(1, Relaxed);
        let keep = if self.cache.is_some() { Keep::Code } else { Keep::Nothing };
        let Compiled { component, turn, code } =
            self.workshop.compile(turn, engine, source.bytes.clone(), key.clone(), keep).await?;
        if let (Some(cache), Some(code)) = (self.cache.clone(), code) {
            blocking(move || Ok(cache.open().map(|cache| cache.store(&key, &code)))).await?;
        }
        let loaded = self.finish(sandbox, source, component).await;
        drop(turn);
        loaded
    }

    async fn cached(&self, engine: &Engine, key: &Key) -> Result<Option<Component>, LoadError> {
        let Some(cache) = self.cache.clone() else { return Ok(None) };
        let (engine, key) = (engine.clone(), key.clone());
        blocking(move || Ok(cache.open().and_then(|cache| cache.load(&engine, &key)))).await
    }

    async fn finish(
        &self,
        sandbox: &Arc<Inner>,
        source: Source,
        component: Component,
    ) -> Result<Arc<LoadedComponent>, LoadError> {
        let sandbox = sandbox.clone();
        let component = blocking(move || link(sandbox, source, component)).await?;
        Ok(self.keep(component))
    }

    fn loaded(&self, digest: &str) -> Option<Arc<LoadedComponent>> {
        self.lock().get(digest).and_then(Weak::upgrade)
    }

    /// Of two that were made ready at the same time the first one stays.
    fn keep(&self, component: Arc<LoadedComponent>) -> Arc<LoadedComponent> {
        let mut loaded = self.lock();
        if let Some(first) = loaded.get(component.digest()).and_then(Weak::upgrade) {
            return first;
        }
        loaded.retain(|_, component| component.strong_count() > 0);
        loaded.insert(component.digest().to_owned(), Arc::downgrade(&component));
        component
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<LoadedComponent>>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The cache, opened when it is first needed and by a thread that may wait for the disk.
#[derive(Clone, Debug)]
struct LazyCache(Arc<(PathBuf, OnceLock<Option<Cache>>)>);

impl LazyCache {
    fn new(folder: PathBuf) -> Self {
        Self(Arc::new((folder, OnceLock::new())))
    }

    fn open(&self) -> Option<&Cache> {
        let (folder, cache) = &*self.0;
        cache.get_or_init(|| Cache::open(folder)).as_ref()
    }
}

impl Source {
    fn check(bytes: Vec<u8>) -> Result<Self, LoadError> {
        inspect::check_bytes(&bytes)?;
        let digest = digest(&bytes);
        Ok(Self { bytes: Arc::new(bytes), digest })
    }
}

/// Runs it where waiting holds nobody up. A fault in what reads a component is a component that does not load.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(if error.is_panic() { LoadError::Invalid("it can not be read".into()) } else { LoadError::Interrupted })
    })
}

fn read(path: PathBuf, most: u64) -> Result<Vec<u8>, LoadError> {
    let error = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => LoadError::Missing,
        _ => LoadError::Unreadable(error),
    };
    // Opening a pipe would wait for somebody to write to it.
    let metadata = path.metadata().map_err(error)?;
    if !metadata.is_file() {
        return Err(LoadError::NotAFile);
    }
    let file = File::open(&path).map_err(error)?;
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(most)).unwrap_or_default() + 1);
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(error)?;
    let size = bytes.len() as u64;
    if size > most {
        let size = path.metadata().map_or(size, |metadata| metadata.len());
        return Err(LoadError::TooLarge { size, most });
    }
    Ok(bytes)
}

fn link(sandbox: Arc<Inner>, source: Source, component: Component) -> Result<Arc<LoadedComponent>, LoadError> {
    let engine = &sandbox.engine.engine;
    let surface = inspect::check_surface(engine, &component)?;
    let wrong = |error: wasmtime::Error| shape::wrong(&error);
    let pre = sandbox.linker.instantiate_pre(&component).map_err(wrong)?;
    let hooks = v0_1::Hooks::find(&pre, &surface.hooks).map_err(wrong)?;
    Ok(Arc::new(LoadedComponent {
        digest: source.digest,
        size: source.bytes.len() as u64,
        exported: surface.hooks,
        imports: surface.imports,
        hooks,
        pre,
        sandbox,
    }))
}
