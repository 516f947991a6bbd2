//! What four listeners gone wrong cost everybody else: calls at a steady rate on one processor, some hundred of them in
//! flight, without and with a looping, a trapping, a memory-eating and a log-flooding listener among those that are asked.
//!
//! Calls arrive when the clock says, whatever became of those before them, and each is timed from the moment in which it
//! should have arrived. So a host that stands still for a moment is seen in every call of that moment. Limits, deadlines and
//! breakers are the defaults of the host.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark is no part of the product: it prints, and a panic is how it fails"
)]

#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(target_os = "linux")]
mod table;

/// Is set where this program runs on one processor.
#[cfg(target_os = "linux")]
const PINNED: &str = "CALLGATE_BENCH_PINNED";

#[cfg(target_os = "linux")]
fn main() {
    if std::env::var_os(PINNED).is_none() {
        return on_one_processor();
    }
    tracing_subscriber::fmt().json().with_writer(std::io::sink).init();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    // A thread that only ends because it was idle would look like one that was lost.
    runtime.enable_all().thread_keep_alive(std::time::Duration::from_secs(3_600));
    let runtime = runtime.build().expect("a runtime starts");
    runtime.block_on(async {
        table::head();
        for row in load::ROWS {
            table::print(&load::run(row).await);
        }
        println!("\nadded: what a healthy call takes beyond the {} ms of its tool", hosts::TOOL.as_millis());
    });
}

/// Runs this program again on one processor, with all its threads.
#[cfg(target_os = "linux")]
fn on_one_processor() {
    let this = std::env::current_exe().expect("a benchmark is a file");
    let pinned = std::process::Command::new("taskset").args(["--cpu-list", "0"]).arg(this).env(PINNED, "1").status();
    assert!(pinned.expect("`taskset` of util-linux is there").success(), "the pinned run fails");
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("this benchmark asks Linux for threads, resident memory, and one processor");
}
