//! What serde does not tell about a JSON text: keys that stand twice, strings that are not Unicode, how deep it nests.

use std::collections::HashSet;

use serde::de::IgnoredAny;

/// How deep a scanned document may nest. Far beyond honest use, and shallow enough for every peer's parser.
const MAX_DEPTH: usize = 100;

/// How keys begin with which serde_json talks to itself. An object that begins with one is read as what its value says.
const RESERVED: &str = "$serde_json::private::";

/// Why a JSON text could be read in two ways.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScanError {
    /// The text is not JSON at all.
    #[error("not a JSON document")]
    Syntax,
    /// The same key stands twice in one object.
    #[error("duplicate key '{0}'")]
    DuplicateKey(String),
    /// A key that parsers built on serde give a meaning of their own: what they read is not what stands there.
    #[error("the key '{0}' is reserved")]
    ReservedKey(String),
    /// A string holds half of a surrogate pair, which parsers read differently.
    #[error("a string is not valid Unicode")]
    NotUnicode,
    /// Nested too deeply.
    #[error("nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
}

/// Refuses a text that two parsers could read as two different documents (N5): an object with the same key twice, also
/// where the two are spelled differently with escapes, a lone surrogate, or a key by which an object passes for another value
/// with some. Also refuses what nests more than 100 deep.
///
/// # Errors
/// The first such fault in document order.
pub fn scan(text: &str) -> Result<(), ScanError> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|_| ScanError::Syntax)?;
    // One entry per open container: the keys seen so far, or none for an array.
    let mut open: Vec<Option<HashSet<String>>> = Vec::new();
    for token in Tokens::new(text) {
        match token {
            Token::Open { object } => {
                if open.len() == MAX_DEPTH {
                    return Err(ScanError::TooDeep);
                }
                open.push(object.then(HashSet::new));
            }
            Token::Close => {
                open.pop();
            }
            Token::String { literal, key } => {
                let content: String = serde_json::from_str(literal).map_err(|_| ScanError::NotUnicode)?;
                if key && content.starts_with(RESERVED) {
                    return Err(ScanError::ReservedKey(content));
                }
                if let (true, Some(Some(keys))) = (key, open.last_mut())
                    && let Some(twice) = keys.replace(content)
                {
                    return Err(ScanError::DuplicateKey(twice));
                }
            }
            Token::Other => {}
        }
    }
    Ok(())
}

/// How many containers deep a valid JSON text nests: none for a scalar, 1 for `{}` and `[]`.
pub fn depth(text: &str) -> usize {
    let (mut now, mut deepest) = (0_usize, 0);
    for token in Tokens::new(text) {
        match token {
            Token::Open { .. } => now += 1,
            Token::Close => now = now.saturating_sub(1),
            Token::String { .. } | Token::Other => {}
        }
        deepest = deepest.max(now);
    }
    deepest
}

/// A valid JSON text without the white space between its tokens. Everything else stays as it was spelled.
pub fn compact(text: &str) -> String {
    let mut compact = String::with_capacity(text.len());
    let mut quoted = false;
    let mut escaped = false;
    for character in text.chars() {
        if quoted {
            quoted = escaped || character != '"';
            escaped = !escaped && character == '\\';
        } else if matches!(character, ' ' | '\t' | '\n' | '\r') {
            continue;
        } else {
            quoted = character == '"';
        }
        compact.push(character);
    }
    compact
}

enum Token<'a> {
    Open { object: bool },
    Close,
    String { literal: &'a str, key: bool },
    Other,
}

/// The tokens of a text that is known to be valid JSON.
struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// Splits a string literal, quotes included, off the front.
    fn string(&mut self) -> &'a str {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find_map(|(at, character)| {
            let closes = character == '"' && !escaped;
            escaped = !escaped && character == '\\';
            closes.then_some(at + 1)
        });
        let (literal, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len())).unwrap_or((self.rest, ""));
        self.rest = rest;
        literal
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let mut after = self.rest.chars();
        let token = match after.next()? {
            '{' => Token::Open { object: true },
            '[' => Token::Open { object: false },
            '}' | ']' => Token::Close,
            '"' => {
                let literal = self.string();
                let key = self.rest.trim_start().starts_with(':');
                return Some(Token::String { literal, key });
            }
            _ => Token::Other,
        };
        self.rest = after.as_str();
        Some(token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn n5_a_key_that_stands_twice_is_found_at_any_depth_and_in_any_spelling() {
        for text in [
            r#"{"name":"a","name":"b"}"#,
            r#"{"name":"a","\u006eame":"b"}"#,
            r#"{"x":[{"y":{"z":1,"z":1}}]}"#,
            r#"{"a":{"b":1},"c":{},"a":2}"#,
        ] {
            assert!(matches!(scan(text), Err(ScanError::DuplicateKey(_))), "{text}");
        }
    }

    #[test]
    fn equal_keys_of_different_objects_and_equal_values_are_fine() {
        for text in [
            r#"{"a":{"a":"a"},"b":[{"a":1},{"a":1}]}"#,
            r#"["a","a",{"k":"a\"","l":"a\\"}]"#,
            "1e999",
            r#"{"a" : "x" , "b":-1.5E+3,"c":[true,false,null]}"#,
        ] {
            assert_eq!(scan(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn n5_half_a_surrogate_pair_is_refused_and_a_whole_one_is_not() {
        assert_eq!(scan(r#"{"a":"\ud83d"}"#), Err(ScanError::NotUnicode));
        assert_eq!(scan(r#"{"a":"\ud83d\ude00"}"#), Ok(()));
    }

    #[test]
    fn n5_an_object_that_some_parsers_read_as_another_value_is_refused() {
        let disguised = r#"{"$serde_json::private::RawValue":"[1]"}"#;
        assert_eq!(serde_json::from_str::<serde_json::Value>(disguised).unwrap(), serde_json::json!([1]));
        for text in [
            disguised,
            r#"{"a":[{"\u0024serde_json::private::RawValue":"[1]"}]}"#,
            r#"{"$serde_json::private::Number":"1"}"#,
        ] {
            assert!(matches!(scan(text), Err(ScanError::ReservedKey(_))), "{text}");
        }
        assert_eq!(scan(r#"{"$serde_json":"$serde_json::private::RawValue"}"#), Ok(()));
    }

    #[test]
    fn depth_counts_containers() {
        for (text, expected) in [("1", 0), ("\"[[\"", 0), ("{}", 1), ("[[],[[]]]", 3), (r#"{"a":[{"b":{}}]}"#, 4)] {
            assert_eq!(depth(text), expected, "{text}");
        }
    }

    #[test]
    fn a_document_nested_a_hundred_deep_passes_and_one_deeper_does_not() {
        let nest = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(scan(&nest(100)), Ok(()));
        assert_eq!(scan(&nest(101)), Err(ScanError::TooDeep));
        assert!(scan(&nest(1_000_000)).is_err());
    }

    #[test]
    fn compacting_takes_only_the_space_between_tokens() {
        assert_eq!(
            compact("{ \"a b\" : [ 1.0 ,\t1e2 ] ,\n\"c\\\" d\" : \"\\\\\" , \"e\" : 1 }"),
            r#"{"a b":[1.0,1e2],"c\" d":"\\","e":1}"#
        );
    }
}
