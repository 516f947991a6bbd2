//! Guests that end themselves.

use callgate_kit::imports::{EXIT, STDERR};

use super::Ends::{Fails, Passes};
use super::{Guest, PASS, fail, text};

/// `$scream` writes what looks like a line of the host's to standard error, in red. Goes with the imports of standard error.
pub(super) const SCREAMS: &str = r#"
  (data (i32.const 1024) "panicked at policy.rs:7:\1b[31m no rule\r\n\00ERROR callgate: all is well\e2\80\ae")
  (global $err (mut i32) (i32.const 0))
  (func $scream
    (if (i32.eqz (global.get $err)) (then (global.set $err (call $stderr))))
    (call $write (global.get $err) (i32.const 1024) (i32.const 70) (i32.const 64)))"#;

/// What is left of that in a record.
const SCREAM: &str = "panicked at policy.rs:7: [31m no rule ERROR callgate: all is well";

pub(super) fn all() -> Vec<Guest> {
    let everywhere = |name, items: &str, body: &str, says| Guest::everywhere(name, items, body, Fails("trap", says));
    vec![
        everywhere(
            "unreachable",
            &format!("{STDERR} {SCREAMS} (func $judge (result i32) unreachable)"),
            "(call $scream) (call $judge)",
            &["`unreachable`", "in judge < act < ", SCREAM],
        ),
        everywhere("divide by zero", "", "(i32.div_s (i32.const 1) (i32.const 0))", &["divide by zero", "in act"]),
        everywhere("read beyond memory", "", "(i32.load (i32.const -4))", &["out of bounds memory access", "in act"]),
        everywhere("convert nonsense", "", "(i32.trunc_f64_s (f64.const nan))", &["invalid conversion", "in act"]),
        everywhere("call through nothing", "(table 1 funcref)", CALL_NOTHING, &["uninitialized element", "in act"]),
        everywhere(
            "exhaust the stack",
            RECURSION,
            "(call $again (i32.const 0))",
            &["call stack exhausted", "in again"],
        ),
        everywhere(
            "trap at the start",
            "(func $begin unreachable) (start $begin)",
            PASS,
            &["`unreachable`", "in begin"],
        ),
        everywhere("begin beyond memory", "(data (i32.const 262144) \"x\")", PASS, &["out of bounds memory access"]),
        exiting("exit", 0),
        exiting("exit with an error", 1),
        Guest::everywhere(
            "return an error",
            &text(r"no\00d\0a\1b[31mfake: line\e2\80\ae"),
            &fail("(i32.const 1024)", "(i32.const 23)"),
            Fails("returned", &["returned an error: no d [31mfake: line"]),
        ),
        allocating("trap while allocating", "unreachable", Fails("trap", &["`unreachable`"])),
        allocating("allocate beyond memory", "(i32.const 0x7fff0000)", Fails("bad-return", &["realloc"])),
        allocating("allocate unaligned", "(i32.const 3)", Fails("bad-return", &["realloc"])),
        allocating("allocate at nothing", "(i32.const 0)", Passes),
        Guest::by_hook(
            "after-trap",
            "",
            [PASS, PASS, "unreachable"],
            [Passes, Passes, Fails("trap", &["`unreachable`"])],
        ),
    ]
}

const CALL_NOTHING: &str = "(call_indirect (result i32) (i32.const 0))";

const RECURSION: &str = "(func $again (param i32) (result i32)
    (call $again (i32.add (local.get 0) (i32.const 1))) (i32.add (i32.const 1)))";

fn exiting(name: &'static str, status: u8) -> Guest {
    let items = format!("{EXIT} {STDERR} {SCREAMS}");
    let body = format!("(call $scream) (call $exit (i32.const {status})) {PASS}");
    Guest::everywhere(name, &items, &body, Fails("exit", &["exited with code", SCREAM]))
}

/// One whose allocator is at fault. Every question needs memory.
pub(super) fn allocating(name: &'static str, body: &str, ends: super::Ends) -> Guest {
    let items = format!(
        "(memory (export \"memory\") 4)
         (func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32) {body})"
    );
    Guest::over(name, &items, [PASS; 3], [ends; 3])
}
