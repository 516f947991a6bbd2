//! What governance costs: one event, events back to back, a grant decision by the number of tools, and a whole call.
//!
//! Everything is measured in one run, and what is compared takes turns, so the rows of a table compare with each other.
//! Needs the guests in all languages: run it as `cargo xtask bench`. With `--json` the figures come as one JSON document.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark is no part of the product: it prints, and a panic is how it fails"
)]

mod one_event;
mod saturation;
mod registries;
mod through_library;
mod through_stdio;

mod guests;
mod native;
mod measure;
mod upstream;

use measure::Table;

fn main() {
    if upstream::was_asked_for() {
        return upstream::serve();
    }
    let json = std::env::args().any(|argument| argument == "--json");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime starts");
    // From inside of the runtime, as the host calls listeners: from outside, every call would also wake a thread.
    let tables = runtime.block_on(async { tokio::spawn(measure(!json)).await.expect("everything was measured") });
    if json {
        println!("{}", tables.iter().map(Table::json).collect::<serde_json::Value>());
    }
}

async fn measure(print: bool) -> Vec<Table> {
    let guests = guests::load().await;
    let rust = guests.first().expect("there are guests");
    let mut tables = Vec::new();
    let mut add = |table: Table| {
        if print {
            table.print();
        }
        tables.push(table);
    };
    one_event::measure(&guests).await.into_iter().for_each(&mut add);
    add(saturation::measure(&guests).await);
    add(registries::measure(rust).await);
    through_library::measure(rust).await.into_iter().for_each(&mut add);
    add(through_stdio::measure().await);
    tables
}
