//! The real binary over a configuration of its own.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::json;
use tempfile::TempDir;

use crate::built::{callgate, guest, root};
use crate::wire::Wire;

/// A folder with a configuration and everything that comes of it.
#[derive(Debug)]
pub struct Gateway {
    folder: TempDir,
}

/// A configuration under way.
#[derive(Clone, Debug, Default)]
pub struct Configuration {
    listeners: Vec<String>,
    text: String,
}

impl Configuration {
    /// Ada, a writer, is signed in.
    pub fn new() -> Self {
        Self::default().and("[caller.ada]\nroles = [\"writer\"]\n[stdio]\ncaller = \"ada\"\n")
    }

    /// More of it, as it is to stand in the file.
    #[must_use]
    pub fn and(mut self, text: &str) -> Self {
        self.text.push_str(text);
        self.text.push('\n');
        self
    }

    /// A server behind the gateway, whose tools are shown to everybody.
    #[must_use]
    pub fn upstream(self, name: &str, server: &[OsString]) -> Self {
        let words: Vec<_> = server.iter().map(|word| word.to_string_lossy()).collect();
        self.and(&format!("[upstream.{name}]\ncommand = {}\nunlisted = \"shown\"", json!(words)))
    }

    /// A Rust component as a listener of its own name, with log, state, clocks and time enough. `config` is the inside of its
    /// own table.
    #[must_use]
    pub fn listener(self, name: &str, config: &str) -> Self {
        self.component(name, &guest(&name.replace('-', "_")), "deadline-ms = 30000", config)
    }

    /// A component as a listener of that name. `options` is more of its table, `config` the inside of its own values.
    #[must_use]
    pub fn component(mut self, name: &str, file: &Path, options: &str, config: &str) -> Self {
        self.listeners.push(name.to_owned());
        let mut table = String::new();
        let file = json!(file.to_string_lossy());
        write!(
            table,
            "[listener.{name}]\ncomponent = {file}\ncapabilities = [\"log\", \"state\", \"clocks\"]\n{options}\n"
        )
        .and_then(|()| write!(table, "[listener.{name}.config]\n{config}"))
        .expect("a text takes more");
        self.and(&table)
    }

    /// The folder with the file.
    pub fn write(self) -> Gateway {
        let folder = tempfile::tempdir().expect("a folder can be made");
        // Compiled code of tests is kept beside what they are built into, and not among the user's own.
        let cache = json!(root().join("target/guests/compiled"));
        let text = format!("listeners = {}\n[sandbox]\ncache = {cache}\n{}", json!(self.listeners), self.text);
        std::fs::write(folder.path().join("callgate.toml"), text).expect("the folder can be written");
        Gateway { folder }
    }
}

impl Gateway {
    /// The folder, for whatever else a test puts there.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The configuration file.
    pub fn file(&self) -> PathBuf {
        self.folder().join("callgate.toml")
    }

    /// Where listeners' values are.
    pub fn state(&self) -> PathBuf {
        self.folder().join("callgate-state.sqlite")
    }

    /// What starts a session.
    pub fn serve(&self) -> Vec<OsString> {
        vec![callgate().into(), "serve".into(), "--config".into(), self.file().into()]
    }

    /// The same as a script, for clients that would take `--config` for an option of their own.
    pub fn script(&self) -> Vec<OsString> {
        let words: Vec<_> = self.serve().iter().map(|word| format!("'{}'", word.to_string_lossy())).collect();
        let script = self.folder().join("serve.sh");
        std::fs::write(&script, format!("exec {}\n", words.join(" "))).expect("the folder can be written");
        vec!["sh".into(), script.into()]
    }

    /// Starts a session.
    pub fn start(&self) -> Wire {
        Wire::start(&self.serve())
    }

    /// Runs another command to its end.
    pub fn run(&self, command: &str, arguments: &[&str]) -> Output {
        let mut program = Command::new(callgate());
        program.arg(command).arg("--config").arg(self.file()).args(arguments);
        program.stdin(std::process::Stdio::null()).output().expect("the binary can be started")
    }
}
