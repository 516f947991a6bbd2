//! One target under libFuzzer.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::workspace::Workspace;

/// A target that tries fewer inputs a second than this tries nothing.
const FEWEST_PER_SECOND: u64 = 5;
/// The longest input, in bytes: as `LONGEST_INPUT` of the targets.
const LONGEST_INPUT: u64 = 8_192;
/// A single input that takes longer, in seconds, has failed.
const LONGEST_TIME: u64 = 20;
/// As much as that of memory, in MiB, is a failure too.
const MOST_MEMORY: u64 = 2_048;
/// How many lines of the log are shown of a failure.
const SHOWN: usize = 40;

/// One target, and where its files are: all under `target/fuzz` but for the seeds.
#[derive(Debug)]
pub(super) struct Campaign<'w> {
    workspace: &'w Workspace,
    program: &'w Path,
    target: &'w str,
}

/// What a target did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    executed: u64,
    edges: u64,
    features: u64,
    corpus: u64,
}

impl<'w> Campaign<'w> {
    pub(super) fn new(workspace: &'w Workspace, program: &'w Path, target: &'w str) -> Self {
        Self { workspace, program, target }
    }

    /// Tries inputs for that long.
    pub(super) fn run(&self, seconds: u64) -> Result<Figures> {
        let (corpus, crashes) = (self.folder("corpus")?, self.folder("crashes")?);
        let log = self.workspace.target("fuzz").join(format!("{}.log", self.target));
        let mut program = self.program();
        program.arg(format!("-max_total_time={seconds}"));
        program.arg(format!("-artifact_prefix={}/", crashes.display()));
        let dictionary = self.dictionary();
        if dictionary.exists() {
            program.arg(format!("-dict={}", dictionary.display()));
        }
        // What is found goes into the first folder; the seeds are only read.
        program.arg(corpus).arg(self.workspace.path("tests/fuzz/seeds").join(self.target));
        let output = File::create(&log)?;
        let status = program.stdout(output.try_clone()?).stderr(output).status().context("it does not start")?;
        let text = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
        if !status.success() {
            bail!("{status}\n{}\n{}", last_lines(&text), self.how_to_see_it_again(&text));
        }
        let figures = Figures::read(&text).with_context(|| format!("no figures in {}", log.display()))?;
        if figures.executed < seconds.saturating_mul(FEWEST_PER_SECOND) || figures.features == 0 {
            bail!("it did next to nothing: {figures:?}, see {}", log.display());
        }
        Ok(figures)
    }

    /// Tries one input and shows what happens.
    pub(super) fn replay(&self, input: &Path) -> Result<()> {
        process::run(self.program().env("RUST_BACKTRACE", "1").arg(input))
    }

    fn program(&self) -> Command {
        let mut program = self.workspace.command(self.program);
        program.env("CALLGATE_FUZZ_TARGET", self.target);
        program.args([
            format!("-max_len={LONGEST_INPUT}"),
            format!("-timeout={LONGEST_TIME}"),
            format!("-rss_limit_mb={MOST_MEMORY}"),
            "-print_final_stats=1".into(),
        ]);
        program
    }

    fn folder(&self, kind: &str) -> Result<PathBuf> {
        let folder = self.workspace.target("fuzz").join(kind).join(self.target);
        fs::create_dir_all(&folder).with_context(|| format!("{} can not be made", folder.display()))?;
        Ok(folder)
    }

    /// Words to build inputs from: its own, or those of JSON, which most targets read.
    fn dictionary(&self) -> PathBuf {
        let folder = self.workspace.path("tests/fuzz/dictionaries");
        let own = folder.join(format!("{}.dict", self.target));
        if own.exists() { own } else { folder.join("json.dict") }
    }

    fn how_to_see_it_again(&self, log: &str) -> String {
        let written =
            log.lines().find_map(|line| line.split_once("Test unit written to ").map(|(_, path)| path.trim()));
        match written {
            Some(path) => format!("the input is {path}\nrun it again with: cargo xtask fuzz {} {path}", self.target),
            None => "libFuzzer wrote no input down".into(),
        }
    }
}

impl Figures {
    /// Reads libFuzzer's last line, such as `#9000 DONE cov: 334 ft: 1234 corp: 210/4096b lim: 4096 exec/s: 349 rss: 60Mb`.
    fn read(log: &str) -> Option<Self> {
        let line = log.lines().rev().find(|line| line.starts_with('#') && line.contains(" cov: "))?;
        let number = |text: &str| text.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok();
        let after = |name: &str| number(line.split_once(name)?.1);
        Some(Self {
            executed: number(line.strip_prefix('#')?)?,
            edges: after(" cov: ")?,
            features: after(" ft: ")?,
            corpus: after(" corp: ")?,
        })
    }

    pub(super) fn header() -> String {
        format!("{:<12}{:>12}{:>10}{:>10}{:>10}", "target", "inputs", "edges", "features", "corpus")
    }

    pub(super) fn row(&self, target: &str) -> String {
        let Self { executed, edges, features, corpus } = self;
        format!("{target:<12}{executed:>12}{edges:>10}{features:>10}{corpus:>10}")
    }
}

/// The end of a log, without the tables that libFuzzer prints behind a failure.
fn last_lines(log: &str) -> String {
    let lines: Vec<_> = log.lines().filter(|line| !line.starts_with("stat::") && !line.starts_with('#')).collect();
    lines.get(lines.len().saturating_sub(SHOWN)..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn figures_are_those_of_the_last_line() {
        let log = "#12\tINITED cov: 3 ft: 4 corp: 1/1b exec/s: 0 rss: 40Mb\n\
                   #9000\tDONE   cov: 334 ft: 1234 corp: 210/4096b lim: 4096 exec/s: 349 rss: 60Mb\n\
                   stat::number_of_executed_units: 9000\n";
        let figures = Figures { executed: 9_000, edges: 334, features: 1_234, corpus: 210 };
        assert_eq!(Figures::read(log), Some(figures));
        assert_eq!(Figures::read("INFO: Seed: 1"), None);
    }
}
