//! Text that others chose, made fit for an operator's terminal.

use std::fmt::Write;
use std::time::{Duration, SystemTime};

/// The text on one line, with everything that could move a cursor, turn the direction of writing or hide itself spelled out.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if char.is_control() || is_format(char) {
            // Writing to a string can not fail.
            let _ = write!(shown, "{}", char.escape_unicode());
        } else {
            shown.push(char);
        }
    }
    shown
}

/// Marks of direction, joiners, line separators, tags and the byte order mark.
fn is_format(char: char) -> bool {
    matches!(char, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// How long it is until then.
pub(crate) fn time_left(then: SystemTime) -> String {
    let left = then.duration_since(SystemTime::now()).unwrap_or(Duration::ZERO).as_secs();
    match left {
        0..120 => format!("{left} s"),
        120..7_200 => format!("{} min", left / 60),
        7_200..172_800 => format!("{} h", left / 3_600),
        _ => format!("{} days", left / 86_400),
    }
}

/// Names in a sentence.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.into_iter().map(printable).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// A number of things.
pub(crate) fn counted(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_act_on_is_spelled_out() {
        assert_eq!(
            printable("rm\u{1b}[2K\r\nls \u{202e}ü\u{200b}\u{9b}"),
            "rm\\u{1b}[2K\\u{d}\\u{a}ls \\u{202e}ü\\u{200b}\\u{9b}"
        );
        assert_eq!(printable("{\"path\":\"/tmp/ä 漢\"}"), "{\"path\":\"/tmp/ä 漢\"}");
    }

    #[test]
    fn time_is_told_in_its_largest_fitting_unit() {
        let told = |seconds| time_left(SystemTime::now() + Duration::from_secs(seconds) + Duration::from_millis(900));
        assert_eq!(told(119), "119 s");
        assert_eq!(told(3_599), "59 min");
        assert_eq!(told(7_200), "2 h");
        assert_eq!(told(172_800), "2 days");
        assert_eq!(time_left(SystemTime::UNIX_EPOCH), "0 s");
    }

    #[test]
    fn numbers_and_names_read_as_words() {
        assert_eq!((counted(1, "tool"), counted(0, "tool")), ("1 tool".into(), "0 tools".into()));
        assert_eq!((listed(["a", "b"]), listed([])), ("a, b".into(), "none".into()));
    }
}
