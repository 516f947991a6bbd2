//! Configuration files in a temporary folder, and the sessions that run under them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use callgate_mcp::{Client, Command, Transport};
use serde_json::Value;
use tempfile::TempDir;

use super::cast::Cast;

/// Where the session plays.
#[derive(Debug)]
pub(super) struct Stage {
    folder: TempDir,
    program: String,
    governed: String,
}

/// The listener that the demonstration breaks.
pub(super) const BROKEN: &str = "broken-gate";

impl Stage {
    /// Writes the configuration files.
    pub(super) fn set(program: String, command: &[String], components: &Path, cast: &Cast) -> Result<Self> {
        let folder = TempDir::new().context("no temporary folder")?;
        let governed = configuration(command, components, cast)?;
        let broken = with_broken_gate(&governed, components)?;
        fs::write(folder.path().join("callgate.toml"), &governed)?;
        fs::write(folder.path().join("broken.toml"), broken)?;
        Ok(Self { folder, program, governed })
    }

    /// The text of the configuration.
    pub(super) fn configuration(&self) -> &str {
        &self.governed
    }

    /// The file of the configuration.
    pub(super) fn file(&self) -> PathBuf {
        self.folder.path().join("callgate.toml")
    }

    /// Starts `callgate serve` as that caller.
    pub(super) async fn session(&self, caller: &str) -> Result<Client> {
        self.open("callgate.toml", caller).await
    }

    /// The same with the broken gate in front of all listeners.
    pub(super) async fn broken_session(&self, caller: &str) -> Result<Client> {
        self.open("broken.toml", caller).await
    }

    async fn open(&self, file: &str, caller: &str) -> Result<Client> {
        let file = self.folder.path().join(file).display().to_string();
        let arguments = ["--log", "off", "serve", "--config", &file, "--as", caller].map(String::from).into();
        let command = Command { program: self.program.clone(), arguments, ..Command::default() };
        Ok(Client::open("callgate", Transport::Child(command)).await?)
    }

    /// Runs `callgate approve` with these arguments and gives what it printed.
    pub(super) async fn approve(&self, arguments: &[&str]) -> Result<String> {
        let mut command = tokio::process::Command::new(&self.program);
        let Output { status, stdout, stderr } =
            command.arg("approve").args(arguments).arg("--config").arg(self.file()).output().await?;
        ensure!(status.success(), "callgate approve: {}", String::from_utf8_lossy(&stderr));
        Ok(String::from_utf8(stdout)?)
    }
}

fn configuration(command: &[String], components: &Path, cast: &Cast) -> Result<String> {
    let component = |name: &str| component(components, name);
    let generic = cast.generic.as_ref();
    let generic = generic.map(|tool| format!("[upstream.demo.tool.{}]\ngeneric = true\n\n", quoted(tool)));
    Ok(format!(
        r#"listeners = ["agent-mode", "approval-gate", "idempotency-ledger", "audit-trail"]

[caller.ada]
roles = ["operator"]

[caller.bob]
roles = ["reader"]

[state]
path = "state.sqlite"

[upstream.demo]
command = {command}
unlisted = "shown"

{generic}[listener.agent-mode]
component = {agent_mode}
deadline-ms = 2000
config.roles = {{ operator = ["*"], reader = {reader} }}

[listener.approval-gate]
component = {approval_gate}
capabilities = ["state", "clocks"]
deadline-ms = 2000
config.tools = [{guarded}]

[listener.idempotency-ledger]
component = {idempotency_ledger}
capabilities = ["state"]
deadline-ms = 2000

[listener.audit-trail]
component = {audit_trail}
capabilities = ["state", "clocks"]
deadline-ms = 2000
"#,
        command = quoted(command),
        generic = generic.unwrap_or_default(),
        agent_mode = component("agent_mode")?,
        reader = quoted(&cast.reader),
        approval_gate = component("approval_gate")?,
        guarded = quoted(&cast.guarded.tool),
        idempotency_ledger = component("idempotency_ledger")?,
        audit_trail = component("audit_trail")?,
    ))
}

/// The same configuration with a gate in front that traps whenever it is asked.
fn with_broken_gate(governed: &str, components: &Path) -> Result<String> {
    let puppet = component(components, "puppet")?;
    let listeners = governed.replacen("listeners = [", &format!("listeners = [\"{BROKEN}\", "), 1);
    Ok(format!(
        "{listeners}\n[listener.{BROKEN}]\ncomponent = {puppet}\nhooks = [\"grant\"]\ndeadline-ms = 2000\nconfig.grant = \"trap\"\n"
    ))
}

fn component(folder: &Path, name: &str) -> Result<String> {
    let path = folder.join(format!("{name}.wasm"));
    let path = path.canonicalize().with_context(|| format!("{}: build the examples first", path.display()))?;
    Ok(quoted(&path.display().to_string()))
}

/// JSON strings, and arrays of them, are TOML as well.
fn quoted(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_value(value).as_ref().map(Value::to_string).unwrap_or_default()
}
