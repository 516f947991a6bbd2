//! Changes to a JSON text that keep it one: what a change of bytes seldom does.

use std::ops::Range;

use crate::reading::{Content, Node, read};

/// Values at the edge of something: numbers that some parsers round, texts that some read differently, empty things.
const EDGES: [&str; 20] = [
    "null",
    "true",
    "0",
    "-0",
    "1.0",
    "1e2",
    "1e999",
    "9007199254740991",
    "9007199254740993.0",
    "9223372036854775808",
    "18446744073709551616",
    "0.1e1",
    r#""""#,
    r#"" ""#,
    r#""\ud800""#,
    r#""\ud83d\ude00""#,
    r#""\u0000""#,
    "{}",
    "[]",
    r#"{"$serde_json::private::RawValue":"{}"}"#,
];
/// Lengths at the edge of a bound.
const LENGTHS: [usize; 8] = [2, 31, 255, 256, 257, 4_093, 4_094, 4_095];

/// The text with one change, chosen by the seed; none where it is no JSON.
pub fn change(text: &str, seed: u32) -> Option<String> {
    let document = read(text)?;
    let mut places = Places::default();
    places.collect(&document);
    let mut random = Random(u64::from(seed) | 1 << 40);
    let value = random.one_of(&places.values)?.clone();
    let other = &text[random.one_of(&places.values)?.clone()];
    let here = &text[value.clone()];
    Some(match random.below(12) {
        0 => splice(text, value, other),
        1 | 2 => splice(text, value, random.one_of(&EDGES)?),
        3 => {
            let levels = 1 + random.below(6);
            splice(text, value, &format!("{}{here}{}", "[".repeat(levels), "]".repeat(levels)))
        }
        4 => splice(text, value, &format!(r#"{{"k":{here}}}"#)),
        5 => {
            let space = *random.one_of(&[" ", "\t", "\n", "  "])?;
            let (before, after) = if random.below(2) == 0 { (space, "") } else { ("", space) };
            splice(text, value, &format!("{before}{here}{after}"))
        }
        6 => without_one(text, random.one_of(&places.items)?.clone()),
        7 => {
            let item = random.one_of(&places.members)?.clone();
            let copy = &text[random.one_of(&places.members)?.clone()];
            splice(text, item.end..item.end, &format!(",{copy}"))
        }
        8 => {
            let item = random.one_of(&places.members)?.clone();
            let many: String = (0..*random.one_of(&[3, 31, 32, 33])?).map(|n| format!(r#","{n}":{n}"#)).collect();
            splice(text, item.end..item.end, &many)
        }
        9 => stretched(text, random.one_of(&places.strings)?.clone(), *random.one_of(&LENGTHS)?),
        _ => respelled(text, random.one_of(&places.strings)?.clone(), &mut random)?,
    })
}

#[derive(Default)]
struct Places {
    values: Vec<Range<usize>>,
    /// Keys and strings, quotes included.
    strings: Vec<Range<usize>>,
    members: Vec<Range<usize>>,
    /// Members and elements.
    items: Vec<Range<usize>>,
}

impl Places {
    fn collect(&mut self, node: &Node) {
        self.values.push(node.at.clone());
        match &node.content {
            Content::Word | Content::Number => {}
            Content::String(_) => self.strings.push(node.at.clone()),
            Content::Array(elements) => {
                for element in elements {
                    self.items.push(element.at.clone());
                    self.collect(element);
                }
            }
            Content::Object(members) => {
                for member in members {
                    let whole = member.key.at.start..member.value.at.end;
                    self.items.push(whole.clone());
                    self.members.push(whole);
                    self.strings.push(member.key.at.clone());
                    self.collect(&member.value);
                }
            }
        }
    }
}

fn splice(text: &str, cut: Range<usize>, insert: &str) -> String {
    [&text[..cut.start], insert, &text[cut.end..]].concat()
}

/// Without that member or element, and one comma with it.
fn without_one(text: &str, item: Range<usize>) -> String {
    let (head, tail) = (text[..item.start].trim_ascii_end(), text[item.end..].trim_ascii_start());
    match (tail.strip_prefix(','), head.strip_suffix(',')) {
        (Some(tail), _) => [head, tail].concat(),
        (None, Some(head)) => [head, tail].concat(),
        (None, None) => [head, tail].concat(),
    }
}

/// The string repeated up to about that many characters.
fn stretched(text: &str, string: Range<usize>, length: usize) -> String {
    let content = &text[string.start + 1..string.end - 1];
    let unit = if content.is_empty() || content.contains('\\') { "é" } else { content };
    let stretched: String = unit.chars().cycle().take(length).collect();
    splice(text, string, &format!("\"{stretched}\""))
}

/// One character of a string in another spelling, or one that some parsers take for it.
fn respelled(text: &str, string: Range<usize>, random: &mut Random) -> Option<String> {
    let content = &text[string.start + 1..string.end - 1];
    let characters: Vec<_> = content.char_indices().collect();
    let (at, character) = *random.one_of(&characters)?;
    let unit = u32::from(character);
    let other = match (random.below(3), character) {
        (_, '\\') => return None,
        (0, 's' | 'S') => "\u{17f}".into(),
        (0, 'k' | 'K') => "\u{212a}".into(),
        (0, 'i' | 'I') => "\u{131}".into(),
        (0, _) => character.to_uppercase().to_string(),
        (_, '\u{10000}'..) => return None,
        (_, _) => format!("\\u{unit:04x}"),
    };
    let start = string.start + 1 + at;
    Some(splice(text, start..start + character.len_utf8(), &other))
}

/// Enough of chance for this: the same seed makes the same change.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end.max(1) as u64).unwrap_or(0)
    }

    fn one_of<'t, T>(&mut self, all: &'t [T]) -> Option<&'t T> {
        let at = self.below(all.len());
        all.get(at)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_changed_document_is_mostly_still_one_and_seldom_the_same() {
        let text = r#"{"name": "task", "arguments": {"k": [1, 2]}, "_meta": {}}"#;
        let changed: Vec<_> = (0..1_000).filter_map(|seed| change(text, seed)).collect();
        let different: HashSet<_> = changed.iter().filter(|it| *it != text).collect();
        assert!(changed.iter().filter(|it| read(it).is_some()).count() > 900, "{}", changed.len());
        assert!(different.len() > 200, "{}", different.len());
        assert!(changed.iter().any(|it| it.contains(r#""name": "task","#) && it.matches(r#""name""#).count() == 2));
        assert_eq!(change(text, 7), change(text, 7));
        assert_eq!(change("{", 7), None);
    }
}
