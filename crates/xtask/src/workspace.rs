//! Where things are.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

/// The clone that this program runs in.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the clone through the manifest that cargo ran: a path that was compiled in would be wrong once it moved.
    pub(crate) fn locate() -> Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").context("run this through cargo: `cargo xtask …`")?;
        let root = Path::new(&manifest).ancestors().nth(2).context("crates/xtask is no longer two folders down")?;
        Ok(Self { root: root.to_owned() })
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Where guests and peers go, whatever cargo's own target directory is: the tests look for them here.
    pub(crate) fn target(&self, relative: &str) -> PathBuf {
        self.root.join("target").join(relative)
    }

    /// The cargo workspaces of guests: apart from the root's, because they are built for another machine.
    pub(crate) fn guest_manifests(&self) -> Vec<PathBuf> {
        ["plugins-examples", "tests/fixtures"]
            .iter()
            .map(|folder| self.path(folder).join("Cargo.toml"))
            .filter(|manifest| manifest.exists())
            .collect()
    }

    /// The cargo that runs this program, started in the root.
    pub(crate) fn cargo(&self, subcommand: &str) -> Command {
        let mut cargo = self.command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.arg(subcommand);
        cargo
    }

    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root);
        command
    }
}
