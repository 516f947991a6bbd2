//! Guests that never end, in all places where a guest can be.

use callgate_kit::imports;

use super::Ends::{Fails, Passes};
use super::{Guest, PASS};

pub(super) const LATE: super::Ends = Fails("deadline", &["no decision within 50 ms"]);
pub(super) const SPIN: &str = "(loop $again (br $again))";

/// A host call that takes an hour.
pub(in crate::hostile) const AN_HOUR: &str = "(call $block (call $after (i64.const 3600000000000)))";

/// Fills as much memory as there is, in one instruction that nothing interrupts.
const FILL: &str = "
    (drop (memory.grow (i32.const 1000)))
    (loop $again
      (memory.fill (i32.const 4096) (i32.const 1) (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 4096)))
      (br $again))";

pub(super) fn all() -> Vec<Guest> {
    let everywhere = |name, items: &str, body: &str| Guest::everywhere(name, items, body, LATE).hasty();
    vec![
        everywhere("loop", "", &format!("{SPIN} {PASS}")),
        everywhere("loop at the start", &format!("(func $begin {SPIN}) (start $begin)"), PASS),
        everywhere("sleep in a host call", imports::SLEEP, &format!("{AN_HOUR} {PASS}")),
        everywhere("fill memory for ever", "", &format!("{FILL} {PASS}")),
        super::traps::allocating("loop while allocating", &format!("{SPIN} (i32.const 0)"), LATE).hasty(),
        Guest::by_hook(
            "after-slow",
            imports::SLEEP,
            [PASS, PASS, &format!("{AN_HOUR} {PASS}")],
            [Passes, Passes, LATE],
        )
        .hasty(),
    ]
}
