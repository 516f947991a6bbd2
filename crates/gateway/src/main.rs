//! The command line of callgate.

use std::process::ExitCode;

fn main() -> ExitCode {
    callgate::cli::run()
}
