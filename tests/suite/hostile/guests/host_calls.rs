//! Guests that ask too much of the host, or what they may not.

use callgate_kit::imports::{LOG, NETWORK, REGISTRY, STATE, STDERR};

use super::Ends::{Fails, Passes};
use super::traps::SCREAMS;
use super::{Guest, PASS, text};

pub(super) fn all() -> Vec<Guest> {
    let screams = format!("{STDERR} {SCREAMS}");
    vec![
        Guest::everywhere(
            "flood the log",
            &format!("{LOG} {}", text("all is well")),
            &format!("(loop $again (call $log (i32.const 1) (i32.const 1024) (i32.const 11)) (br $again)) {PASS}"),
            Fails("host-calls", &["over its limit of host-calls"]),
        ),
        Guest::everywhere("flood standard error", &screams, &flood(PASS), Passes),
        Guest::everywhere(
            "flood standard error and trap",
            &screams,
            &flood("unreachable"),
            Fails("trap", &["ERROR callgate: all is well panicked at policy.rs:7:"]),
        ),
        Guest::everywhere(
            "fill the store",
            &format!("{STATE} {}", text("k")),
            // One key and 64 KiB, again and again.
            &format!(
                "(loop $again
                   (call $set (i32.const 1024) (i32.const 1) (i32.const 131072) (i32.const 65536)
                     (i32.const 0) (i32.const 0) (i32.const 64))
                   (br $again)) {PASS}"
            ),
            Fails("state", &["over its limit of state"]),
        )
        .limited(|limits| limits.state = 1 << 20),
        Guest::everywhere("reach for the network", &format!("{NETWORK} {}", text("localhost")), RESOLVE, Passes),
        registry(),
    ]
}

fn flood(end: &str) -> String {
    format!(
        "(local $left i32)
         (local.set $left (i32.const 1000))
         (loop $again
           (call $scream)
           (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
         {end}"
    )
}

/// Traps if it learns an address. That it may not is an error value, which a guest can live with.
const RESOLVE: &str = "
    (call $resolve (call $network) (i32.const 1024) (i32.const 9) (i32.const 64))
    (if (i32.eqz (i32.load8_u (i32.const 64))) (then unreachable))
    (i32.const 2048)";

/// Asks for the rows, which only the grant hook may.
fn registry() -> Guest {
    let body = format!("(drop (call $count)) {PASS}");
    let refused = Fails("trap", &["only the grant hook may call"]);
    Guest::by_hook("ask for the rows", REGISTRY, [&body; 3], [Passes, refused, refused])
}
