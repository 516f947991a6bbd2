//! What a grant listener answers: nothing, or what is to stay.

use std::sync::Arc;
use std::time::Duration;

use crate::registry::{Reach, Row};

/// The longest time for which a decision may be used again (G10).
pub const MAX_REUSE: Duration = Duration::from_secs(60);

/// A grant listener's answer (G3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GrantAnswer {
    /// No opinion.
    Abstain,
    /// Of what the caller's roles permit, only this stays.
    Narrow(Narrowing),
}

/// What stays: rows that are named, or that match a pattern and no exception. It can not add anything (G3).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Narrowing {
    // INVARIANT: sorted, without repetitions. A listener that looked at all rows names them in order, and then there is
    // nothing to sort; a set would cost more to build than a call's one look at it. Shared, because a decision that is used
    // again is copied for each use.
    identifiers: Arc<Vec<String>>,
    patterns: Arc<Vec<Pattern>>,
    excluding: Arc<Vec<Pattern>>,
    reusable: Duration,
}

/// A pattern over tool names: `*` is any run of characters, also an empty one, and `?` exactly one character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<char>);

impl Narrowing {
    /// Nothing stays but what is added to this.
    pub fn to_nothing() -> Self {
        Self::default()
    }

    /// Rows of these names stay, generic ones included.
    #[must_use]
    pub fn and_named(mut self, identifiers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let names = Arc::make_mut(&mut self.identifiers);
        names.extend(identifiers.into_iter().map(Into::into));
        if !names.is_sorted() {
            names.sort_unstable();
        }
        names.dedup();
        self
    }

    /// Rows that match one of these patterns stay. Never a generic row (G9).
    #[must_use]
    pub fn and_matching(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Arc::make_mut(&mut self.patterns).extend(patterns.into_iter().map(Pattern::new));
        self
    }

    /// Rows that match one of these are not taken in by the patterns.
    #[must_use]
    pub fn excluding(mut self, patterns: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Arc::make_mut(&mut self.excluding).extend(patterns.into_iter().map(Pattern::new));
        self
    }

    /// For how long the decision may be used again for an equal caller of the same generation, at most [`MAX_REUSE`].
    #[must_use]
    pub fn reusable_for(self, time: Duration) -> Self {
        Self { reusable: time.min(MAX_REUSE), ..self }
    }

    /// Whether that row stays.
    pub fn keeps(&self, row: &Row) -> bool {
        let matches = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(&row.identifier));
        self.identifiers.binary_search(&row.identifier).is_ok()
            || (row.reach == Reach::Bounded && matches(&self.patterns) && !matches(&self.excluding))
    }

    /// The names, in order.
    pub fn identifiers(&self) -> impl Iterator<Item = &str> {
        self.identifiers.iter().map(String::as_str)
    }

    pub(crate) fn reusable(&self) -> Duration {
        self.reusable
    }

    /// About how many bytes it takes to keep.
    pub(crate) fn size(&self) -> usize {
        let names: usize = self.identifiers.iter().map(String::len).sum();
        let patterns = self.patterns.iter().chain(self.excluding.iter());
        names + patterns.map(|pattern| pattern.0.len() * size_of::<char>()).sum::<usize>()
    }
}

impl Pattern {
    /// The pattern with that text.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().chars().collect())
    }

    /// Whether it covers the whole name. Takes time in the product of both lengths at most, whatever the pattern.
    pub fn matches(&self, name: &str) -> bool {
        // One bit for each prefix of the pattern: whether it covers what was read of the name so far.
        let mut covers = vec![false; self.0.len() + 1];
        let mut before = true;
        for (covered, star) in covers.iter_mut().zip(std::iter::once(true).chain(self.0.iter().map(|it| *it == '*'))) {
            before &= star;
            *covered = before;
        }
        for character in name.chars() {
            let mut shorter = false;
            let mut extended = false;
            for (position, covered) in covers.iter_mut().enumerate() {
                let earlier = *covered;
                *covered = match position.checked_sub(1).and_then(|at| self.0.get(at)) {
                    Some('*') => earlier || extended,
                    Some('?') => shorter,
                    Some(literal) => shorter && *literal == character,
                    None => false,
                };
                (shorter, extended) = (earlier, *covered);
            }
        }
        covers.last().copied().unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::row;

    #[test]
    fn g3_a_pattern_covers_whole_names() {
        for (pattern, name, expected) in [
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("*", "anything", true),
            ("read", "read", true),
            ("read", "reads", false),
            ("read", "Read", false),
            ("read*", "read_file", true),
            ("*read", "spread", true),
            ("*read", "spreads", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("?", "é", true),
            ("?", "", false),
            ("r?ad", "road", true),
            ("**", "x", true),
            ("*?", "", false),
            ("*?", "x", true),
            ("[a]", "a", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), expected, "{pattern} over {name}");
        }
    }

    proptest! {
        /// The plain definition of what the two signs mean, tried on everything that can be spelled with four characters.
        #[test]
        fn g3_patterns_mean_what_their_definition_says(pattern in "[ab*?]{0,8}", name in "[abc]{0,8}") {
            fn covers(pattern: &[u8], name: &[u8]) -> bool {
                match (pattern.split_first(), name.split_first()) {
                    (None, _) => name.is_empty(),
                    (Some((b'*', rest)), None) => covers(rest, name),
                    (Some((b'*', rest)), Some((_, later))) => covers(rest, name) || covers(pattern, later),
                    (Some((b'?', rest)), Some((_, later))) => covers(rest, later),
                    (Some((literal, rest)), Some((first, later))) => literal == first && covers(rest, later),
                    (Some(_), None) => false,
                }
            }
            let matches = Pattern::new(&pattern).matches(&name);
            prop_assert_eq!(matches, covers(pattern.as_bytes(), name.as_bytes()));
        }
    }

    #[test]
    fn a_pattern_of_many_stars_is_decided_quickly() {
        // A backtracking matcher would not come back from this.
        assert!(!Pattern::new("*a".repeat(200) + "b").matches(&"a".repeat(400)));
    }

    #[test]
    fn g3_what_is_named_or_matches_without_exception_stays() {
        let narrowing = Narrowing::to_nothing().and_named(["get"]).and_matching(["read_*"]).excluding(["*_all", "get"]);
        for (name, stays) in [("get", true), ("read_one", true), ("read_all", false), ("write", false)] {
            assert_eq!(narrowing.keeps(&row(name)), stays, "{name}");
        }
        assert!(!Narrowing::to_nothing().keeps(&row("get")));
        let unordered = Narrowing::to_nothing().and_named(["c", "a"]).and_named(["b", "a"]);
        assert_eq!(unordered.identifiers().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert!(["a", "b", "c"].iter().all(|name| unordered.keeps(&row(name))));
        assert_eq!(narrowing.identifiers().collect::<Vec<_>>(), ["get"]);
    }

    #[test]
    fn g9_a_pattern_never_takes_in_a_generic_row() {
        let generic = Row { reach: Reach::Generic, ..row("exec_url") };
        assert!(!Narrowing::to_nothing().and_matching(["*"]).keeps(&generic));
        assert!(Narrowing::to_nothing().and_named(["exec_url"]).keeps(&generic));
    }

    #[test]
    fn g10_a_decision_takes_the_bytes_of_its_names_and_patterns() {
        let narrowing = Narrowing::to_nothing().and_named(["é", "bc"]).and_matching(["a*"]).excluding(["?"]);
        assert_eq!(narrowing.size(), 4 + 3 * 4);
    }

    #[test]
    fn g10_a_decision_is_reusable_for_sixty_seconds_at_most() {
        let reusable = |seconds| Narrowing::to_nothing().reusable_for(Duration::from_secs(seconds)).reusable();
        assert_eq!(Narrowing::to_nothing().reusable(), Duration::ZERO);
        assert_eq!(reusable(5), Duration::from_secs(5));
        assert_eq!(reusable(61), MAX_REUSE);
    }
}
