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

#[cfg(target_os = "linux")]
fn main() {
    let mut processors = rustix::thread::CpuSet::new();
    processors.set(0);
    // Before any other thread is there, so that all of them stay on this processor.
    rustix::thread::sched_setaffinity(None, &processors).expect("a process may keep to one processor");
    tracing_subscriber::fmt().json().with_writer(std::io::sink).init();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(async {
        table::head();
        for row in load::ROWS {
            table::print(&load::run(row).await);
        }
        println!("\nadded: what a healthy call takes beyond the {} ms of its tool", hosts::TOOL.as_millis());
    });
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("this benchmark asks Linux for threads, resident memory, and one processor");
}
