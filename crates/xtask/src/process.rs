//! Starting other programs.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs the command to its end with our output as its own.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start {}", line(command)))?;
    if !status.success() {
        bail!("{status}: {}", line(command));
    }
    Ok(())
}

/// Whether the command ends well; what it prints is not shown.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// What the command prints, trimmed.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("could not start {}", line(command)))?;
    if !output.status.success() {
        bail!("{}: {}", output.status, line(command));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs the command to its end, showing what it prints, and hands every line to `read`.
pub(crate) fn watch(command: &mut Command, mut read: impl FnMut(&str)) -> Result<()> {
    let mut child =
        command.stdout(Stdio::piped()).spawn().with_context(|| format!("could not start {}", line(command)))?;
    for text in BufReader::new(child.stdout.take().context("the child has no output")?).lines() {
        let text = text?;
        println!("{text}");
        read(&text);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("{status}: {}", line(command));
    }
    Ok(())
}

/// The command as one would type it, without our folder in it.
fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy()));
    words.join(" ")
}
