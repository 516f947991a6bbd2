//! Guests whose answer can not be read, or is too much.

use super::Ends::{Fails, Passes};
use super::{Ends, Guest, PASS, answer, telling, text};

pub(super) fn all() -> Vec<Guest> {
    let unreadable = |says| Fails("bad-return", says);
    vec![
        told("a text beyond memory", "", "(i32.const 0x7fff0000)", "(i32.const 100)", unreadable(&["out of bounds"])),
        told("a text that never ends", "", "(i32.const 1024)", "(i32.const -1)", unreadable(&["out of bounds"])),
        told("a text that is none", &text(r"ab\ff\fecd"), "(i32.const 1024)", "(i32.const 6)", unreadable(&["utf-8"])),
        Guest::everywhere("return unaligned", "", "(i32.const 9)", unreadable(&["aligned"])),
        Guest::everywhere("return beyond memory", "", "(i32.const -16)", unreadable(&["out of bounds"])),
        Guest::everywhere(
            "return no kind of result",
            "",
            &format!("(i32.store8 (i32.const 2048) (i32.const 7)) {PASS}"),
            unreadable(&["discriminant"]),
        ),
        huge_answer(),
        aliases(),
        // 9 MiB, where the host takes 8 out of one call.
        told(
            "a text of 9 MiB",
            "(func $grow (drop (memory.grow (i32.const 200)))) (start $grow)",
            "(i32.const 0)",
            "(i32.const 9437184)",
            Fails("hostcall-fuel", &[]),
        ),
        wordy(),
    ]
}

/// Hands that text to the host, whatever the hook.
fn told(name: &'static str, items: &str, at: &str, length: &str, ends: Ends) -> Guest {
    let bodies = telling(at, length);
    Guest::by_hook(name, items, bodies.each_ref().map(String::as_str), [ends; 3])
}

/// Answers with 64 MiB.
fn huge_answer() -> Guest {
    let body = format!(
        "(if (i32.eq (memory.grow (i32.const 1100)) (i32.const -1)) (then unreachable)) {}",
        answer("(i32.const 131072)", "(i32.const 67108864)")
    );
    let ends = [Passes, Fails("hostcall-fuel", &[]), Passes];
    Guest::by_hook("answer with 64 MiB", "", [PASS, &body, PASS], ends).limited(|limits| limits.memory = 80 << 20)
}

/// Names 65,536 rows that are all the same 64 KiB: 4 GiB for the host out of half a megabyte of the guest's.
fn aliases() -> Guest {
    let body = "(local $at i32)
        (drop (memory.grow (i32.const 16)))
        (local.set $at (i32.const 131072))
        (loop $again
          (i32.store offset=4 (local.get $at) (i32.const 65536))
          (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 8))) (i32.const 655360))))
        (i32.store8 (i32.const 2052) (i32.const 1))
        (i32.store (i32.const 2056) (i32.const 131072)) (i32.store (i32.const 2060) (i32.const 65536))
        (i32.const 2048)";
    Guest::by_hook("many names for one text", "", [body, PASS, PASS], [Fails("hostcall-fuel", &[]), Passes, Passes])
}

/// Says 100 bytes where 50 are allowed. An error is not limited, but cut: it only goes to the log.
fn wordy() -> Guest {
    let bodies = telling("(i32.const 1024)", "(i32.const 100)");
    let output = Fails("output", &["over its limit of output"]);
    let ends = [output, output, Fails("returned", &["xxxxxxxxxx"])];
    Guest::by_hook("say too much", &text(&"x".repeat(100)), bodies.each_ref().map(String::as_str), ends)
        .limited(|limits| limits.output = 50)
}
