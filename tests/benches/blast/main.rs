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
use std::time::Duration;

#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod hosts;
#[cfg(target_os = "linux")]
mod table;

/// How much more a healthy call may take at the 99th percentile because of bad listeners.
#[cfg(target_os = "linux")]
const MOST: Duration = Duration::from_millis(20);

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
    runtime.enable_all().thread_keep_alive(Duration::from_secs(3_600));
    let runtime = runtime.build().expect("a runtime starts");
    runtime.block_on(async {
        table::head();
        let (mut worst, mut lost) = (Duration::ZERO, false);
        let mut without = None;
        for row in load::ROWS {
            let measured = load::run(row).await;
            table::print(&measured);
            lost |= measured.lost > 0;
            worst = worst.max(measured.p99().saturating_sub(*without.get_or_insert(measured.p99())));
        }
        for row in load::BEYOND {
            table::print(&load::run(row).await);
        }
        println!("\nadded: what a healthy call takes beyond the {} ms of its tool", hosts::TOOL.as_millis());
        println!(
            "bad listeners add at most {worst:.2?} at the 99th percentile of the first five rows; {MOST:?} are aimed at"
        );
        assert!(!lost, "healthy calls were lost");
        assert!(worst <= MOST, "bad listeners cost healthy calls too much");
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
