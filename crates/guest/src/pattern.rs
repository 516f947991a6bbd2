//! Patterns over tool names, as the host reads them in a narrowing.

/// Whether the pattern covers the whole name: `*` stands for any run of characters, also an empty one, and `?` for exactly
/// one. Takes time in the product of both lengths at most.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut rest = (pattern.chars(), name.chars());
    // Where to go on when a literal does not fit: the last star takes one more character. Earlier ones never need to.
    let mut retry = None;
    loop {
        let here = rest.clone();
        match (rest.0.next(), rest.1.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                retry = Some((rest.0.clone(), here.1.clone()));
                rest.1 = here.1;
            }
            (Some(wanted), Some(found)) if wanted == '?' || wanted == found => {}
            _ => {
                let Some((pattern, mut name)) = retry.take() else { return false };
                if name.next().is_none() {
                    return false;
                }
                retry = Some((pattern.clone(), name.clone()));
                rest = (pattern, name);
            }
        }
    }
}

/// Whether one of the patterns covers the name.
pub fn any_matches<'a>(patterns: impl IntoIterator<Item = &'a String>, name: &str) -> bool {
    patterns.into_iter().any(|pattern| matches(pattern, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_and_question_marks_cover_what_they_say() {
        let fitting = [
            ("", ""),
            ("*", ""),
            ("*", "anything"),
            ("files__*", "files__"),
            ("files__*", "files__read"),
            ("*__read", "files__read"),
            ("a*b*c", "a-b-b-c"),
            ("??", "éa"),
            ("a**c", "ac"),
            ("*aab", "aaaab"),
        ];
        for (pattern, name) in fitting {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("", "a"), ("?", ""), ("a", "ab"), ("ab", "a"), ("a*b*c", "a-c-b"), ("*a", "ab"), ("A", "a")]
        {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!matches(&"*a".repeat(200), &"a".repeat(199)));
        assert!(!matches(&format!("{}b", "*a".repeat(100)), &"a".repeat(10_000)));
    }
}
