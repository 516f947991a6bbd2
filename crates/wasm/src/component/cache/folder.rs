//! The folder of a cache. Everything in it is reached from the folder's own descriptor, no symbolic link is followed, and
//! nothing is used that others could have written.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT};
use rustix::io::Errno;
use rustix::{fs, process};

use super::seal::Secret;
use super::{Bad, Unusable};

/// How the name of an entry ends.
pub(super) const ENTRY: &str = "code";
/// How the name of a file ends that is still being written.
const UNFINISHED: &str = "new";
const SECRET: &str = "secret";

/// Nobody writes one file for so long.
const ABANDONED: Duration = Duration::from_secs(3_600);
/// What others must not be able to do with a file or folder that is believed.
const OTHERS_WRITE: Mode = Mode::WGRP.union(Mode::WOTH);
const OTHERS_READ: Mode = Mode::RWXG.union(Mode::RWXO);

/// A folder that only we write to.
#[derive(Debug)]
pub(super) struct Folder {
    folder: OwnedFd,
}

impl Folder {
    /// Opens the folder, and makes it if need be.
    pub(super) fn open(path: &Path) -> Result<Self, Unusable> {
        if let Some(parent) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        match DirBuilder::new().mode(0o700).create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
            _ => {}
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::LOOP | Errno::NOTDIR => Unusable::NoFolder,
            other => Unusable::Io(other.into()),
        })?;
        let stat = fs::fstat(&folder).map_err(io::Error::from)?;
        if stat.st_uid != process::geteuid().as_raw() {
            return Err(Unusable::Foreign);
        }
        if mode(&stat).intersects(OTHERS_WRITE) {
            return Err(Unusable::Open);
        }
        Ok(Self { folder })
    }

    /// The secret of this folder, which is made if need be. Of several processes that make it at the same time one wins, and
    /// all of them use that one.
    pub(super) fn secret(&self) -> Result<Secret, Unusable> {
        match self.read_secret() {
            Ok(Some(secret)) => return Ok(secret),
            Ok(None) => {}
            // It was cut off, or others could read it. Everything that was sealed with it is compiled again.
            Err(_) => self.remove(Path::new(SECRET)),
        }
        let mut fresh = [0; Secret::LENGTH];
        getrandom::fill(&mut fresh).map_err(io::Error::from)?;
        let unfinished = self.write_unfinished(&[&fresh])?;
        let linked = fs::linkat(&self.folder, &unfinished, &self.folder, SECRET, AtFlags::empty());
        self.remove(&unfinished);
        match linked {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(Unusable::Io(error.into())),
        }
        match self.read_secret() {
            Ok(Some(secret)) => Ok(secret),
            _ => Err(Unusable::Io(io::Error::other("its file `secret` is no file of this user alone"))),
        }
    }

    fn read_secret(&self) -> Result<Option<Secret>, Bad> {
        let Some((file, stat)) = self.ours(Path::new(SECRET))? else { return Ok(None) };
        if mode(&stat).intersects(OTHERS_READ) || stat.st_size != Secret::LENGTH as i64 {
            return Err(Bad::NotOurs);
        }
        let mut secret = [0; Secret::LENGTH];
        (&file).read_exact(&mut secret)?;
        Ok(Some(Secret(secret)))
    }

    /// The entry of that name, if there is one. It counts as used just now.
    pub(super) fn entry(&self, name: &Path) -> Result<Option<File>, Bad> {
        let Some((file, _)) = self.ours(name)? else { return Ok(None) };
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let unchanged = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        // Where it can not be noted the entry leaves earlier than it should.
        let _ = fs::futimens(&file, &Timestamps { last_access: unchanged, last_modification: now });
        Ok(Some(file))
    }

    /// A file that is our own and that nobody else writes to.
    fn ours(&self, name: &Path) -> Result<Option<(File, Stat)>, Bad> {
        // To open a pipe for reading would wait for somebody to write to it.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match fs::openat(&self.folder, name, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(Bad::NotOurs),
            Err(error) => return Err(Bad::Io(error.into())),
        };
        let stat = fs::fstat(&file).map_err(io::Error::from)?;
        let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        if !regular || stat.st_uid != process::geteuid().as_raw() || mode(&stat).intersects(OTHERS_WRITE) {
            return Err(Bad::NotOurs);
        }
        Ok(Some((file, stat)))
    }

    /// Writes a file under that name. Whoever has the one before it open keeps that one as it was: compiled code is mapped
    /// and run for as long as a process lives.
    pub(super) fn write(&self, name: &Path, parts: &[&[u8]]) -> io::Result<()> {
        let unfinished = self.write_unfinished(parts)?;
        let renamed = fs::renameat(&self.folder, &unfinished, &self.folder, name);
        if renamed.is_err() {
            self.remove(&unfinished);
        }
        Ok(renamed?)
    }

    /// Writes a file under a name that nothing else has.
    fn write_unfinished(&self, parts: &[&[u8]]) -> io::Result<PathBuf> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)?;
        let name = PathBuf::from(format!("{:032x}.{UNFINISHED}", u128::from_ne_bytes(random)));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(fs::openat(&self.folder, &name, flags, Mode::RUSR | Mode::WUSR)?);
        let written = parts.iter().try_for_each(|part| file.write_all(part));
        if written.is_err() {
            self.remove(&name);
        }
        written.map(|()| name)
    }

    /// Removes what has that name, if it is there and is no folder.
    pub(super) fn remove(&self, name: &Path) {
        // An entry that stays is bad at the next start as well, and no worse.
        let _ = fs::unlinkat(&self.folder, name, AtFlags::empty());
    }

    /// Removes the entries that were not used for the longest time until the others have at most so many bytes, and what was
    /// left behind half written.
    pub(super) fn shrink(&self, most: u64) -> io::Result<()> {
        let mut entries = Vec::new();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
        for entry in Dir::read_from(&self.folder)? {
            let name = PathBuf::from(OsString::from_vec(entry?.file_name().to_bytes().to_vec()));
            let ends = |end| name.extension().is_some_and(|extension| extension == end);
            let Ok(stat) = fs::statat(&self.folder, &name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let age = now.saturating_sub(u64::try_from(stat.st_mtime).unwrap_or_default());
            if ends(ENTRY) {
                entries.push((
                    stat.st_mtime,
                    stat.st_mtime_nsec,
                    u64::try_from(stat.st_size).unwrap_or_default(),
                    name,
                ));
            } else if ends(UNFINISHED) && age > ABANDONED.as_secs() {
                self.remove(&name);
            }
        }
        entries.sort();
        let mut total: u64 = entries.iter().map(|(_, _, size, _)| size).sum();
        for (_, _, size, name) in entries {
            if total <= most {
                break;
            }
            self.remove(&name);
            total = total.saturating_sub(size);
        }
        Ok(())
    }
}

fn mode(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode)
}
