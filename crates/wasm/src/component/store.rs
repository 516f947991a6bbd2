//! Compiles each component once, for as long as somebody uses it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use callgate_core::json::digest;
use tokio::sync::Mutex;
use wasmtime::component::Component;

use crate::abi::v0_1;
use crate::sandbox::Inner;
use crate::text::printable;

use super::{LoadError, LoadedComponent, Pin, inspect};

/// The most characters that a compiler's message may have: it can contain names that a component chose.
const MESSAGE: usize = 1_024;

/// Compiled components by digest.
#[derive(Debug, Default)]
pub(crate) struct ComponentStore {
    // The lock is held while a component compiles, so one compiles at a time, on all cores: a large one takes seconds and
    // hundreds of megabytes.
    compiled: Mutex<HashMap<String, Weak<LoadedComponent>>>,
}

impl ComponentStore {
    /// The component in that file.
    pub(crate) async fn load(
        &self,
        sandbox: &Arc<Inner>,
        path: &Path,
        pin: Option<&Pin>,
    ) -> Result<Arc<LoadedComponent>, LoadError> {
        let (path, most) = (path.to_owned(), sandbox.config.largest_file);
        let bytes = blocking(move || read(path, most)).await?;
        self.load_bytes(sandbox, bytes, pin).await
    }

    /// The component with those bytes.
    pub(crate) async fn load_bytes(
        &self,
        sandbox: &Arc<Inner>,
        bytes: Vec<u8>,
        pin: Option<&Pin>,
    ) -> Result<Arc<LoadedComponent>, LoadError> {
        inspect::check_bytes(&bytes)?;
        let digest = digest(&bytes);
        if let Some(pin) = pin.filter(|pin| pin.as_str() != digest) {
            return Err(LoadError::DigestMismatch { expected: pin.as_str().to_owned(), actual: digest });
        }
        let mut compiled = self.compiled.lock().await;
        if let Some(component) = compiled.get(&digest).and_then(Weak::upgrade) {
            return Ok(component);
        }
        let (sandbox, key) = (sandbox.clone(), digest.clone());
        let component = blocking(move || compile(sandbox, &bytes, digest)).await?;
        compiled.retain(|_, component| component.strong_count() > 0);
        compiled.insert(key, Arc::downgrade(&component));
        Ok(component)
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    tokio::task::spawn_blocking(work).await.unwrap_or(Err(LoadError::Interrupted))
}

fn read(path: PathBuf, most: u64) -> Result<Vec<u8>, LoadError> {
    let error = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => LoadError::Missing,
        _ => LoadError::Unreadable(error),
    };
    // Opening a pipe would wait for somebody to write to it.
    if !path.metadata().map_err(error)?.is_file() {
        return Err(LoadError::NotAFile);
    }
    let file = File::open(&path).map_err(error)?;
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(error)?;
    let size = bytes.len() as u64;
    if size > most {
        let size = path.metadata().map_or(size, |metadata| metadata.len());
        return Err(LoadError::TooLarge { size, most });
    }
    Ok(bytes)
}

fn compile(sandbox: Arc<Inner>, bytes: &[u8], digest: String) -> Result<Arc<LoadedComponent>, LoadError> {
    let engine = &sandbox.engine.engine;
    // A fault in the compiler must not be more than a component that does not load.
    let component = panic::catch_unwind(AssertUnwindSafe(|| Component::from_binary(engine, bytes)))
        .map_err(|_| LoadError::Invalid("the compiler gave up".into()))?
        .map_err(|error| LoadError::Invalid(message(&error)))?;
    let surface = inspect::check_surface(engine, &component)?;
    let shape = |error| LoadError::WrongShape(message(&error));
    let pre = sandbox.linker.instantiate_pre(&component).map_err(shape)?;
    let hooks = v0_1::Hooks::find(&pre, &surface.hooks).map_err(shape)?;
    Ok(Arc::new(LoadedComponent {
        digest,
        size: bytes.len() as u64,
        exported: surface.hooks,
        imports: surface.imports,
        hooks,
        pre,
        sandbox,
    }))
}

fn message(error: &wasmtime::Error) -> String {
    printable(&format!("{error:#}"), MESSAGE)
}
