//! What governance costs: one event, and a whole call with three listeners against the same call with none.
//!
//! Everything is measured in one run, so the lines of the table compare with each other. Needs the puppet, which
//! `cargo xtask bench` builds; the binary is built on the way.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark is no part of the product: it prints, and a panic is how it fails"
)]

mod measure;
mod one_event;
mod through_library;
mod through_stdio;
mod upstream;

use measure::Table;

fn main() {
    if upstream::was_asked_for() {
        return upstream::serve();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(async {
        let mut table = Table::default();
        one_event::measure(&mut table).await;
        through_library::measure(&mut table).await;
        through_stdio::measure(&mut table).await;
        table.print();
    });
}
