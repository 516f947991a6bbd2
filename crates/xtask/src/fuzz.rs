//! `cargo xtask fuzz`: do the answers of a parser hold for inputs that nobody thought of?

pub(crate) mod instrument;

mod campaign;
mod engine;

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;
use campaign::{Campaign, Figures};

/// How long each target runs unless said otherwise.
pub(crate) const SECONDS: u64 = 60;

const USAGE: &str = "\
cargo xtask fuzz [TARGET…] [--seconds N]   run all targets, or these, for N seconds each
cargo xtask fuzz TARGET FILE               try one input again";

/// What was asked for on the command line.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    targets: Vec<String>,
    seconds: u64,
    input: Option<PathBuf>,
}

pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    let all = targets(workspace)?;
    let request = Request::read(arguments, &all).context(USAGE)?;
    let program = engine::build(workspace)?;
    match (request.input, request.targets.as_slice()) {
        (Some(input), [target]) => Campaign::new(workspace, &program, target).replay(&input),
        _ => run_for(workspace, &program, request.targets, request.seconds),
    }
}

/// Every target for that long, as a step of the tests.
pub(crate) fn every_target(workspace: &Workspace, seconds: u64) -> Result<()> {
    let program = engine::build(workspace)?;
    run_for(workspace, &program, targets(workspace)?, seconds)
}

/// As many at a time as there are cores. All of them run, whichever fails.
fn run_for(workspace: &Workspace, program: &Path, targets: Vec<String>, seconds: u64) -> Result<()> {
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let workers = cores.min(targets.len());
    println!("{} targets, {workers} at a time, {seconds} s each: {}", targets.len(), targets.join(", "));
    println!("{}", Figures::header());
    let waiting = Mutex::new(targets.into_iter());
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().ok()?.next();
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(target) = next() {
                    match Campaign::new(workspace, program, &target).run(seconds) {
                        Ok(figures) => println!("{}", figures.row(&target)),
                        Err(error) => {
                            println!("{target}: {error:#}");
                            failed.lock().iter_mut().for_each(|failed| failed.push(target.clone()));
                        }
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_default();
    if !failed.is_empty() {
        bail!("fuzz targets failed: {}", failed.join(", "));
    }
    Ok(())
}

/// The names of the targets: each has a folder of seeds, which a test of theirs looks after.
fn targets(workspace: &Workspace) -> Result<Vec<String>> {
    let folder = workspace.path("tests/fuzz/seeds");
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).context("tests/fuzz/seeds can not be read")? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

impl Request {
    fn read(arguments: &[String], all: &[String]) -> Result<Self> {
        let mut request = Self { targets: Vec::new(), seconds: SECONDS, input: None };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if argument == "--seconds" {
                let number = arguments.next().context("--seconds needs a number")?;
                request.seconds = number.parse().with_context(|| format!("`{number}` is no number of seconds"))?;
            } else if all.contains(argument) {
                request.targets.push(argument.clone());
            } else if Path::new(argument).is_file() && request.targets.len() == 1 {
                request.input = Some(fs::canonicalize(argument)?);
            } else {
                bail!("`{argument}` is no target ({}) and no file for one", all.join(", "));
            }
        }
        if request.targets.is_empty() {
            request.targets = all.to_vec();
        }
        Ok(request)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Request> {
        let arguments: Vec<_> = arguments.iter().map(|it| (*it).to_owned()).collect();
        Request::read(&arguments, &["json".to_owned(), "meta".to_owned()])
    }

    #[test]
    fn targets_seconds_and_a_file_are_told_apart() {
        let all = Request { targets: vec!["json".into(), "meta".into()], seconds: SECONDS, input: None };
        assert_eq!(read(&[]).unwrap(), all);
        let longer = read(&["meta", "--seconds", "600"]).unwrap();
        assert_eq!(longer, Request { targets: vec!["meta".into()], seconds: 600, input: None });
        let file = env!("CARGO_MANIFEST_PATH");
        assert_eq!(read(&["meta", file]).unwrap().input, Some(fs::canonicalize(file).unwrap()));
        for wrong in [&["--seconds"][..], &["--seconds", "x"], &["jsonn"], &[file]] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
