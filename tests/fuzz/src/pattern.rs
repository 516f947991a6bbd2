//! Patterns over tool names (G3), as the host and as guests read them.

use callgate_core::grant::{Narrowing, Pattern};
use callgate_core::registry::{Reach, Row};
use callgate_core::testing::row;

/// The input is a pattern, a line break and a name. The host, guests and the plain definition agree; a narrowing keeps what
/// matches and no exception takes out, and never a generic row.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Some((pattern, name)) = text.split_once('\n') else { return };
    let host = Pattern::new(pattern).matches(name);
    assert_eq!(callgate_guest::pattern::matches(pattern, name), host, "guests read it differently");
    let signs: Vec<_> = pattern.chars().collect();
    let characters: Vec<_> = name.chars().collect();
    // The definition tries everything, which takes for ever where there are many stars.
    if signs.iter().filter(|sign| **sign == '*').count() <= 4 && characters.len() <= 32 {
        assert_eq!(covers(&signs, &characters), host);
    }
    // Any character may stand in the place of a sign that is one, and every name covers itself.
    if !pattern.contains(['*', '?']) {
        assert_eq!(host, pattern == name);
    }
    assert!(Pattern::new("*").matches(name) && Pattern::new("?".repeat(characters.len())).matches(name));

    let plain = row(name);
    let generic = Row { reach: Reach::Generic, ..row(name) };
    let narrowing = Narrowing::to_nothing().and_matching([pattern]);
    assert_eq!(narrowing.keeps(&plain), host);
    assert!(!narrowing.keeps(&generic));
    assert!(!narrowing.excluding([name.replace('*', "?")]).keeps(&plain), "an exception");
    let named = Narrowing::to_nothing().and_named([name]).excluding([pattern]);
    assert!(named.keeps(&plain) && named.keeps(&generic), "a name stays whatever the patterns say");
}

fn covers(pattern: &[char], name: &[char]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, _) => name.is_empty(),
        (Some(('*', rest)), _) => (0..=name.len()).any(|taken| covers(rest, &name[taken..])),
        (Some(('?', rest)), Some((_, later))) => covers(rest, later),
        (Some((literal, rest)), Some((first, later))) => literal == first && covers(rest, later),
        (Some(_), None) => false,
    }
}
