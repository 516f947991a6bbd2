//! What governance costs: one event, events back to back, a grant decision by the number of tools, and a whole call.
//!
//! Everything is measured in one run, and what is compared takes turns, so the rows of a table compare with each other.
//! Needs the guests in all languages: run it as `cargo xtask bench`. With `--json` the figures come as one JSON document.
//! Words choose among the sections: `event`, `sizes`, `saturation`, `registries`, `library`, `stdio`.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
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

use callgate_wasm::{Sandbox, SandboxConfig};

use measure::Table;

fn main() {
    if upstream::was_asked_for() {
        return upstream::serve();
    }
    let (flags, sections): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let json = flags.iter().any(|flag| flag == "--json");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime starts");
    // From inside of the runtime, as the host calls listeners: from outside, every call would also wake a thread.
    let measuring = async { tokio::spawn(measure(sections, !json)).await.expect("everything was measured") };
    let tables = runtime.block_on(measuring);
    if json {
        println!("{}", tables.iter().map(Table::json).collect::<serde_json::Value>());
    }
}

/// Measures those sections; none for all.
async fn measure(sections: Vec<String>, print: bool) -> Vec<Table> {
    let wanted = |section: &str| sections.is_empty() || sections.iter().any(|it| it == section);
    let mut tables = Vec::new();
    let mut add = |table: Table| {
        if print {
            table.print();
        }
        tables.push(table);
    };
    let sandbox = Sandbox::new(SandboxConfig::default()).expect("the sandbox starts");
    if ["event", "sizes", "saturation"].into_iter().any(wanted) {
        let guests = guests::all(&sandbox).await;
        if wanted("event") {
            add(one_event::small(&guests).await);
            add(one_event::parts(&guests).await);
        }
        if wanted("sizes") {
            add(one_event::by_size(&guests).await);
        }
        if wanted("saturation") {
            add(saturation::measure(&guests).await);
        }
    }
    let rust = guests::rust(&sandbox).await;
    if wanted("registries") {
        add(registries::measure(&rust).await);
    }
    if wanted("library") {
        through_library::measure(&rust).await.into_iter().for_each(&mut add);
    }
    if wanted("stdio") {
        add(through_stdio::measure().await);
    }
    tables
}
