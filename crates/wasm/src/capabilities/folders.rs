//! Folders that a listener was granted, to read or to write.

use std::path::{Path, PathBuf};

use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemCtx, WasiFilesystemView};
use wasmtime_wasi::p2::bindings::filesystem::preopens;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxBuilder};

use crate::event::EventState;

use super::Capability;

/// A folder of the host that a listener sees under a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderGrant {
    /// The folder. It is opened when the listener is made: what takes its place later is not seen.
    pub path: PathBuf,
    /// What the guest calls it: an absolute path.
    pub guest: String,
    /// What the guest may do there.
    pub access: FolderAccess,
}

/// What a guest may do in a folder and in everything below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderAccess {
    /// Look at what is there.
    Read,
    /// Change it as well, as far as the host process may. How much is written is not limited.
    ReadWrite,
}

/// Why a folder can not be granted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FolderProblem {
    /// The guest's name for it is none.
    #[error("what the guest calls it is an absolute path without empty parts, '.' and '..', like /policy")]
    Name,
    /// Another one has that name.
    #[error("two folders have that name; a guest could not tell them apart")]
    Twice,
    /// It is not there, no folder, or not to be opened.
    #[error("{} can not be used: {reason}", .path.display())]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// The folders of one listener, opened.
#[derive(Clone)]
pub(crate) struct Folders {
    grants: Vec<FolderGrant>,
    opened: WasiFilesystemCtx,
}

/// Each open file costs the process a descriptor, of which it may have no more than 1,024: a listener with folders has
/// fewer handles, so that all of its events together leave some to the others.
const HANDLES: usize = 32;

impl Folders {
    /// Opens them. The error says which could not be: its place in the list.
    pub(crate) fn open(grants: Vec<FolderGrant>) -> Result<Self, (usize, FolderProblem)> {
        let mut context = WasiCtxBuilder::new();
        for (index, grant) in grants.iter().enumerate() {
            let problem = |problem| (index, problem);
            if !is_guest_path(&grant.guest) {
                return Err(problem(FolderProblem::Name));
            }
            if grants.iter().take(index).any(|other| other.guest == grant.guest) {
                return Err(problem(FolderProblem::Twice));
            }
            let unusable = |reason| problem(FolderProblem::Unusable { path: grant.path.clone(), reason });
            check(&grant.path).map_err(unusable)?;
            let permissions = match grant.access {
                FolderAccess::Read => FsPerms::ReadOnly,
                FolderAccess::ReadWrite => FsPerms::ReadWrite,
            };
            let opened = context.preopened_dir(&grant.path, &grant.guest, permissions);
            opened.map_err(|error| unusable(error.root_cause().to_string()))?;
        }
        Ok(Self { grants, opened: context.build().filesystem().clone() })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    /// Whether something can be changed in one of them.
    pub(crate) fn any_to_write(&self) -> bool {
        self.grants.iter().any(|grant| grant.access == FolderAccess::ReadWrite)
    }

    /// How many handles an event of that listener may have.
    pub(crate) fn handles(&self, limit: usize) -> usize {
        if self.is_empty() { limit } else { limit.min(HANDLES) }
    }

    pub(crate) fn open_in(&self, context: &mut WasiCtx) {
        if !self.is_empty() {
            *context.filesystem() = self.opened.clone();
        }
    }
}

impl std::fmt::Debug for Folders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Folders").field("grants", &self.grants).finish_non_exhaustive()
    }
}

fn check(path: &Path) -> Result<(), String> {
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err("it is no folder".into()),
        Err(error) => Err(error.to_string()),
    }
}

fn is_guest_path(path: &str) -> bool {
    let plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(|char: char| char == '\\' || char.is_control());
    path == "/" || path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(plain))
}

impl preopens::Host for EventState {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        self.grants.may(Capability::Folder);
        preopens::Host::get_directories(&mut self.filesystem())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grant(path: &Path, guest: &str) -> FolderGrant {
        FolderGrant { path: path.into(), guest: guest.into(), access: FolderAccess::Read }
    }

    #[test]
    fn a_guests_name_for_a_folder_is_an_absolute_path() {
        for name in ["/", "/policy", "/policy/de", "/..policy"] {
            assert!(is_guest_path(name), "{name}");
        }
        for name in
            ["", "policy", "./policy", "/policy/", "//policy", "/a/../b", "/..", "/.", "/a\\b", "/a\nb", "C:\\a"]
        {
            assert!(!is_guest_path(name), "{name}");
        }
    }

    #[test]
    fn a_folder_has_to_be_one_and_have_a_name_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let problem = |grants| Folders::open(grants).unwrap_err();
        let path = folder.path();
        assert_eq!(problem(vec![grant(path, "/a"), grant(path, "b")]), (1, FolderProblem::Name));
        assert_eq!(problem(vec![grant(path, "/a"), grant(path, "/a")]), (1, FolderProblem::Twice));
        for unusable in [file, path.join("missing")] {
            let (index, problem) = problem(vec![grant(&unusable, "/a")]);
            assert!(index == 0 && problem.to_string().contains(&*unusable.to_string_lossy()), "{problem}");
        }
        let mut both = vec![grant(path, "/a"), grant(path, "/b")];
        assert!(!Folders::open(both.clone()).unwrap().any_to_write());
        both[1].access = FolderAccess::ReadWrite;
        assert!(Folders::open(both).unwrap().any_to_write());
    }
}
