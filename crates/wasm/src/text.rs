//! Text that a guest wrote, made fit for a log.

/// Invisible characters that reorder the text around them.
const REORDERING: [char; 11] = [
    '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}', '\u{2066}', '\u{2067}',
    '\u{2068}', '\u{2069}',
];

/// At most so many characters of a text, on one line: each run of control characters becomes one space, so that no guest
/// can write a line of the log, or on a terminal, that looks like the host's.
pub(crate) fn printable(text: &str, most: usize) -> String {
    let mut out = String::new();
    let mut gap = false;
    let mut length = 0_usize;
    for character in text.trim().chars() {
        if character.is_control() || REORDERING.contains(&character) || matches!(character, '\u{2028}' | '\u{2029}') {
            gap = true;
            continue;
        }
        if length >= most {
            out.push('…');
            break;
        }
        if std::mem::take(&mut gap) && character != ' ' && !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
        out.push(character);
        length += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_do_not_reach_a_log() {
        assert_eq!(printable("a\r\n\u{1b}[31mb\0\u{85}c\u{202e}d\n", 99), "a [31mb c d");
        assert_eq!(printable("\n\n", 99), "");
        assert_eq!(printable("a \n b\n c \nd", 99), "a  b c d");
    }

    #[test]
    fn a_text_is_cut_at_a_character() {
        assert_eq!(printable("ééé", 3), "ééé");
        assert_eq!(printable("éééé", 3), "ééé…");
    }
}
