//! Compiled code on disk, so that a component is compiled once and not at every start.
//!
//! Compiled code is machine code: whoever writes it runs in this process. So an entry is used only when it carries a seal
//! that nobody makes without the folder's secret, lies in a folder that nobody else writes to, and belongs to this component
//! and these settings. Whatever is wrong with an entry, it is as if there were none.

mod seal;
#[cfg(unix)]
mod folder;
#[cfg(not(unix))]
#[path = "cache/no_folder.rs"]
mod folder;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use wasmtime::Engine;
use wasmtime::component::Component;

use super::key::Key;
use super::precompiled::OurCode;
#[cfg(target_os = "linux")]
use super::precompiled::OurFile;

use folder::Folder;
use seal::{SEAL, Secret};

/// The most bytes of all entries together.
const MOST: u64 = 1 << 30;

/// The entries of one folder.
#[derive(Debug)]
pub(super) struct Cache {
    folder: Folder,
    secret: Secret,
    most: u64,
}

/// Why a folder is not used.
#[derive(Debug, thiserror::Error)]
enum Unusable {
    #[error("it can not be used ({0}); make it a folder that this user can write to, or name another one")]
    Io(#[from] io::Error),
    #[cfg(unix)]
    #[error("it is a symbolic link or no folder; name the folder itself")]
    NoFolder,
    #[cfg(unix)]
    #[error("it belongs to another user; name a folder of your own")]
    Foreign,
    #[cfg(unix)]
    #[error("others may write to it; take that away with `chmod 700`")]
    Open,
    #[cfg(not(unix))]
    #[error("whose it is can not be told on this system; switch the cache off")]
    NoOwners,
}

/// Why an entry is not used.
#[derive(Debug, thiserror::Error)]
enum Bad {
    #[error("it can not be read ({0})")]
    Io(#[from] io::Error),
    #[error("it is no file of this user's own")]
    NotOurs,
    #[error("it is not what this program wrote for this component")]
    Forged,
    #[error("the engine does not take it ({0})")]
    Refused(String),
}

impl Cache {
    /// The cache in that folder, which is made if need be. Without one everything still works, only slower, so a folder that
    /// can not be trusted is told in a warning.
    pub(super) fn open(path: &Path) -> Option<Self> {
        match Self::try_open(path) {
            Ok(cache) => Some(cache),
            Err(unusable) => {
                tracing::warn!(
                    folder = %path.display(),
                    "compiled code is not kept, so every start compiles again: the cache is not used because {unusable}"
                );
                None
            }
        }
    }

    fn try_open(path: &Path) -> Result<Self, Unusable> {
        let folder = Folder::open(path)?;
        let secret = folder.secret()?;
        Ok(Self { folder, secret, most: MOST })
    }

    /// The component of that key, if its code is here.
    pub(super) fn load(&self, engine: &Engine, key: &Key) -> Option<Component> {
        match self.try_load(engine, key) {
            Ok(component) => component,
            Err(bad) => {
                tracing::warn!(entry = key.as_str(), "an entry of the cache is removed and compiled again: {bad}");
                self.folder.remove(&name(key));
                None
            }
        }
    }

    fn try_load(&self, engine: &Engine, key: &Key) -> Result<Option<Component>, Bad> {
        let Some(file) = self.folder.entry(&name(key))? else { return Ok(None) };
        let component = match mapped(&self.secret, engine, key, &file)? {
            Some(component) => component,
            None => copied(&self.secret, engine, key, file)?,
        };
        Ok(Some(component))
    }

    /// Keeps the code of that key. That it could not be kept costs time at the next start and nothing else.
    pub(super) fn store(&self, key: &Key, code: &[u8]) {
        let seal = self.secret.seal(key, code);
        let stored = self.folder.write(&name(key), &[code, key.as_str().as_bytes(), &seal]);
        if let Err(error) = stored.and_then(|()| self.folder.shrink(self.most)) {
            tracing::warn!(%error, "compiled code is not kept, so the next start compiles again");
        }
    }
}

fn name(key: &Key) -> PathBuf {
    format!("{}.{}", key.as_str(), folder::ENTRY).into()
}

/// Looks at the bytes where they lie and maps them, which takes no memory of its own. None where that can not be done, as on
/// a file system that nothing may be executed from.
#[cfg(target_os = "linux")]
fn mapped(secret: &Secret, engine: &Engine, key: &Key, file: &File) -> Result<Option<Component>, Bad> {
    let mut from_start = file;
    from_start.rewind()?;
    if !secret.opens(key, from_start, file.metadata()?.len())? {
        return Err(Bad::Forged);
    }
    let component = OurFile(file).load(engine);
    Ok(component.inspect_err(|error| tracing::debug!(error = format!("{error:#}"), "not mapped")).ok())
}

#[cfg(not(target_os = "linux"))]
fn mapped(_: &Secret, _: &Engine, _: &Key, _: &File) -> Result<Option<Component>, Bad> {
    Ok(None)
}

/// Reads the bytes and looks at what was read.
fn copied(secret: &Secret, engine: &Engine, key: &Key, mut file: File) -> Result<Component, Bad> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    if !secret.opens(key, bytes.as_slice(), bytes.len() as u64)? {
        return Err(Bad::Forged);
    }
    let length = bytes.len().saturating_sub(Key::LENGTH + SEAL);
    let code = bytes.get(..length).ok_or(Bad::Forged)?;
    OurCode(code).load(engine).map_err(|error| Bad::Refused(super::compile::message(&error)))
}

#[cfg(all(test, unix))]
mod tests;
