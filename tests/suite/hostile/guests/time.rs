//! Guests that never end, in all places where a guest can be.

use super::Ends::{Fails, Passes};
use super::{Guest, PASS};

const LATE: super::Ends = Fails("deadline", &["no decision within 50 ms"]);
const SPIN: &str = "(loop $again (br $again))";

/// A host call that takes an hour.
const SLEEPS: &str = r#"
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))"#;
const SLEEP: &str = "(call $block (call $after (i64.const 3600000000000)))";

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
        everywhere("sleep in a host call", SLEEPS, &format!("{SLEEP} {PASS}")),
        everywhere("fill memory for ever", "", &format!("{FILL} {PASS}")),
        super::traps::allocating("loop while allocating", &format!("{SPIN} (i32.const 0)"), LATE).hasty(),
        Guest::by_hook("after-slow", SLEEPS, [PASS, PASS, &format!("{SLEEP} {PASS}")], [Passes, Passes, LATE]).hasty(),
    ]
}
