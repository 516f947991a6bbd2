//! Systems where it can not be told whether others may write to a folder: nothing is kept there.

use std::fs::File;
use std::io;
use std::path::Path;

use super::seal::Secret;
use super::{Bad, Unusable};

pub(super) const ENTRY: &str = "code";

/// There is none.
#[derive(Debug)]
pub(super) enum Folder {}

impl Folder {
    pub(super) fn open(_: &Path) -> Result<Self, Unusable> {
        Err(Unusable::NoOwners)
    }

    pub(super) fn secret(&self) -> Result<Secret, Unusable> {
        match *self {}
    }

    pub(super) fn entry(&self, _: &Path) -> Result<Option<File>, Bad> {
        match *self {}
    }

    pub(super) fn write(&self, _: &Path, _: &[&[u8]]) -> io::Result<()> {
        match *self {}
    }

    pub(super) fn remove(&self, _: &Path) {
        match *self {}
    }

    pub(super) fn shrink(&self, _: u64) -> io::Result<()> {
        match *self {}
    }
}
