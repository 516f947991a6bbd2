//! `cargo xtask test`: every check and test, cheapest first.

use anyhow::Result;

use crate::process;
use crate::steps::Steps;
use crate::workspace::Workspace;
use crate::{checks, fuzz, guests, peers, setup};

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut steps = Steps::begin();
    let mut tally = Tally::default();
    steps.step("formatting", || checks::formatting(workspace))?;
    steps.step("wasm target", || setup::wasm_target(workspace))?;
    steps.step("Python peers and checkers", || peers::install_python(workspace))?;
    steps.step("spelling", || checks::spelling(workspace))?;
    steps.step("dependencies: licences, bans, sources", || checks::dependencies(workspace))?;
    steps.step("npm peers", || peers::install_npm(workspace))?;
    steps.step("lints", || checks::lints(workspace))?;
    steps.step("documentation", || checks::documentation(workspace))?;
    steps.step("lints of the guests", || guests::lint(workspace))?;
    steps.step("unit tests of the guests", || guest_tests(workspace, &mut tally))?;
    steps.step("guests in Rust", || guests::build(workspace))?;
    steps.step("guests in other languages", || guests::build_other_languages(workspace))?;
    steps.step("build", || build(workspace))?;
    steps.step("tests", || tests(workspace, &mut tally))?;
    steps.step("fuzz targets", || fuzz::every_target(workspace, fuzz::SECONDS))?;
    steps.summary();
    println!("\ntests: {} passed, {} failed, {} skipped", tally.passed, tally.failed, tally.ignored);
    Ok(())
}

/// The guests' own tests run natively: what a hook decides needs no sandbox to be looked at.
fn guest_tests(workspace: &Workspace, tally: &mut Tally) -> Result<()> {
    for manifest in workspace.guest_manifests() {
        let mut cargo = workspace.cargo("test");
        cargo.args(["--workspace", "--locked", "--quiet", "--target-dir"]).arg(workspace.target("guests"));
        process::watch(cargo.arg("--manifest-path").arg(manifest), |line| tally.read(line))?;
    }
    Ok(())
}

/// All targets at once: the binary that the suite starts is then built with the features of the tests, and no dependency
/// is built twice.
fn build(workspace: &Workspace) -> Result<()> {
    process::run(workspace.cargo("build").args(["--workspace", "--all-targets", "--locked", "--quiet"]))
}

fn tests(workspace: &Workspace, tally: &mut Tally) -> Result<()> {
    let mut cargo = workspace.cargo("test");
    process::watch(cargo.args(["--workspace", "--locked", "--no-fail-fast"]), |line| tally.read(line))
}

/// What the test runners' closing lines add up to.
#[derive(Debug, Default)]
struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Tally {
    /// Reads a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`.
    fn read(&mut self, line: &str) {
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else {
            return;
        };
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod unit {
    use super::Tally;

    #[test]
    fn closing_lines_add_up() {
        let mut tally = Tally::default();
        tally.read("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s");
        tally.read("test result: FAILED. 2 passed; 4 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.00s");
        tally.read("3 passed; 3 failed");
        assert_eq!((tally.passed, tally.failed, tally.ignored), (5, 4, 1));
    }
}
