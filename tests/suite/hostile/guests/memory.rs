//! Guests that take more than there is for them.

use callgate_kit::imports;

use super::Ends::{Fails, Passes};
use super::{Guest, PASS};

/// Grows as far as it gets.
pub(super) const GROW: &str = "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))";

pub(super) fn all() -> Vec<Guest> {
    let over = |name, items: &str, limit| Guest::everywhere(name, "", PASS, Fails(limit, &[])).and_items(items);
    let hoard = |handle: &str| format!("(loop $again (drop {handle}) (br $again)) {PASS}");
    vec![
        Guest::everywhere("allocate until none is left", "", &format!("{GROW} unreachable"), Fails("memory", &[])),
        Guest::everywhere("live with what there is", "", &format!("{GROW} {PASS}"), Passes),
        over("two large memories", &twice("(memory 600)"), "memory"),
        over("two large tables", &twice("(table 15000 funcref)"), "tables"),
        over("many instances", &instances(8), "instances").limited(|limits| limits.instances = 8),
        Guest::everywhere(
            "hoard what the host gives",
            imports::STDERR,
            &hoard("(call $stderr)"),
            Fails("handles", &[]),
        ),
        Guest::everywhere(
            "hoard things of its own",
            imports::THING,
            &hoard("(call $new (i32.const 1))"),
            Fails("handles", &[]),
        ),
    ]
}

fn twice(item: &str) -> String {
    format!("(core module $big {item}) {}", "(core instance (instantiate $big))".repeat(2))
}

fn instances(count: usize) -> String {
    format!("(core module $none) {}", "(core instance (instantiate $none))".repeat(count))
}
