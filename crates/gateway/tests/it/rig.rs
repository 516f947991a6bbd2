//! A folder with a configuration in it, and the program that is run over it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use callgate_mcp::envelope::{Payload, Response};
use callgate_mcp::{Client, Transport};
use tempfile::TempDir;

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_callgate");

/// Compiled code of tests is kept beside what Cargo builds, and not among the user's own.
pub(crate) const CACHES: (&str, &str) = ("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"));

/// A folder with a configuration.
pub(crate) struct Rig {
    folder: TempDir,
}

impl Rig {
    pub(crate) fn new(configuration: &str) -> Self {
        let rig = Self { folder: TempDir::new().unwrap() };
        rig.write("callgate.toml", configuration);
        rig
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Runs the program in the folder, to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = Command::new(PROGRAM);
        command.current_dir(self.folder.path()).args(arguments).env(CACHES.0, CACHES.1);
        Ran(command.output().unwrap())
    }

    /// A session with `callgate serve` as that caller.
    pub(crate) async fn session(&self, caller: &str) -> Client {
        let config = self.path("callgate.toml").display().to_string();
        self.serve(&["serve", "--config", &config, "--as", caller]).await
    }

    pub(crate) async fn serve(&self, arguments: &[&str]) -> Client {
        let command = callgate_mcp::Command {
            program: PROGRAM.into(),
            arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
            directory: Some(self.folder.path().into()),
            environment: vec![(CACHES.0.into(), CACHES.1.into())],
        };
        Client::open("callgate", Transport::Child(command)).await.unwrap()
    }
}

/// What a run of the program left.
pub(crate) struct Ran(Output);

impl Ran {
    /// What it said, of a run that succeeded.
    #[track_caller]
    pub(crate) fn said(&self) -> String {
        assert!(self.0.status.success(), "{}", self.complaint());
        String::from_utf8(self.0.stdout.clone()).unwrap()
    }

    /// What it complained of, of a run that failed and said nothing else.
    #[track_caller]
    pub(crate) fn refused(&self) -> String {
        assert!(!self.0.status.success(), "it succeeded: {}", String::from_utf8_lossy(&self.0.stdout));
        assert!(self.0.stdout.is_empty(), "standard output belongs to answers");
        self.complaint()
    }

    fn complaint(&self) -> String {
        String::from_utf8(self.0.stderr.clone()).unwrap()
    }
}

/// A component that `cargo xtask guests` builds.
pub(crate) fn component(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/guests/wasm32-wasip2/release");
    let path = folder.join(format!("{name}.wasm"));
    path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}: run `cargo xtask guests`", path.display()))
}

/// The table of a listener made of an example or a fixture, with time enough for a busy machine.
pub(crate) fn listener(name: &str, file: &str, more: &str) -> String {
    let component = component(file);
    format!("\n[listener.{name}]\ncomponent = '{}'\ndeadline-ms = 10000\n{more}\n", component.display())
}

/// The table of an upstream that is the demonstration's server.
pub(crate) fn upstream(name: &str, more: &str) -> String {
    format!("\n[upstream.{name}]\ncommand = ['{PROGRAM}', 'demo-server']\nunlisted = \"shown\"\n{more}\n")
}

/// The names of the tools that a client sees.
pub(crate) async fn names(client: &Client) -> Vec<String> {
    let tools = client.list_tools().await.unwrap();
    let name = |definition: &callgate_core::Json| {
        let definition: serde_json::Value = serde_json::from_str(definition.as_str()).unwrap();
        definition["name"].as_str().unwrap().to_owned()
    };
    tools.iter().map(name).collect()
}

/// Calls a tool and gives its result or error as text.
pub(crate) async fn call(client: &Client, tool: &str, arguments: &str) -> String {
    let arguments = callgate_core::Json::parse(arguments).unwrap();
    let Response { payload: Payload::Result(answer) | Payload::Error(answer), .. } =
        client.call(tool, &arguments).await.unwrap();
    answer.as_str().to_owned()
}
