//! Guests that are at fault before their first event. The result of a preparation lies at 3072.

use super::Ends::{Fails, Passes};
use super::Guest;
use super::memory::GROW;
use super::time::{LATE, SPIN};

pub(super) fn all() -> Vec<Guest> {
    vec![
        Guest::prepared("trap while preparing", "unreachable", Fails("trap", &["`unreachable`", "in prepare"])),
        Guest::prepared("loop while preparing", &format!("{SPIN} (i32.const 3072)"), LATE).hasty(),
        Guest::prepared("allocate while preparing", &format!("{GROW} unreachable"), Fails("memory", &[])),
        Guest::prepared(
            "return an error while preparing",
            "(i32.store8 (i32.const 3072) (i32.const 1)) (i32.const 3072)",
            Fails("returned", &["returned an error"]),
        ),
        Guest::prepared("prepare unaligned", "(i32.const 3073)", Fails("bad-return", &["aligned"])),
        Guest::prepared(
            "want more rehearsals than there are",
            "(i32.store (i32.const 3076) (i32.const -1)) (i32.const 3072)",
            Passes,
        ),
    ]
}
