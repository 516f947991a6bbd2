//! What listeners may say, and decisions that are none.

use super::Ends::{Answers, Denies, Fails, Passes};
use super::{Guest, PASS, answer, deny, text};

const INVALID: &str = "invalid-decision";
const ANSWER: &str = r#"{"isError":false, "content":[{"type":"text","text":"stored"}],"future":1.50e1}"#;

pub(super) fn all() -> Vec<Guest> {
    let denying = |name, reason: &str, length: usize, ends| {
        let body = deny("(i32.const 1024)", &format!("(i32.const {length})"));
        Guest::by_hook(name, &text(reason), [PASS, &body, PASS], [Passes, ends, Passes])
    };
    let answering = |name, result: &str, ends| {
        let body = answer("(i32.const 1024)", &format!("(i32.const {})", result.len()));
        Guest::by_hook(name, &text(&result.replace('"', "\\\"")), [PASS, &body, PASS], [Passes, ends, Passes])
    };
    vec![
        Guest::everywhere("pass", "", PASS, Passes),
        denying("deny", "not today", 9, Denies("not today")),
        denying("deny for no reason", "", 0, Fails(INVALID, &["a denial needs a reason"])),
        denying("deny for white space", " \\0a\\09", 3, Fails(INVALID, &["a denial needs a reason"])),
        answering("answer", ANSWER, Answers(ANSWER)),
        answering("answer with bad JSON", r#"{"content":["#, Fails(INVALID, &["no tool result"])),
        answering("answer with no result", r#"["content"]"#, Fails(INVALID, &["no tool result"])),
        answering(
            "answer with a name twice",
            r#"{"content":[],"content":[]}"#,
            Fails(INVALID, &["it can be read in two ways"]),
        ),
    ]
}
