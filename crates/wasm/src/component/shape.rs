//! What of a component has another type than the interface of that name, in our own words.

use std::fmt;

use crate::text::printable;

use super::LoadError;

/// The most characters of a name that a component chose.
const NAME: usize = 200;

/// How an item of an interface differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// There is none of that name.
    Missing,
    /// It has another type.
    OtherType,
}

/// Names the item that the engine stumbled over. Of its words only names are taken.
pub(super) fn wrong(error: &wasmtime::Error) -> LoadError {
    let text = format!("{error:#}");
    let missing = text.contains("implementation is missing") || text.contains("has no function");
    LoadError::WrongShape {
        interface: printable(interface(&text).unwrap_or("an interface"), NAME),
        item: printable(item(&text).unwrap_or("type"), NAME),
        difference: if missing { Difference::Missing } else { Difference::OtherType },
    }
}

fn interface(text: &str) -> Option<&str> {
    let words = text.split([' ', '`', ',']).map(|word| word.trim_end_matches(':'));
    words.into_iter().find(|word| word.contains(':') && word.contains('/'))
}

/// The first name in back quotes that is not an interface's. Names of a component have no back quotes in them.
fn item(text: &str) -> Option<&str> {
    text.split('`').skip(1).step_by(2).find(|name| !name.contains(':'))
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "does not exist",
            Self::OtherType => "has another type",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_item_is_found_in_the_words_of_the_engine() {
        let cases = [
            (
                "component imports instance `wasi:cli/exit@0.2.0`, but a matching implementation was not found in the \
                 linker: instance export `exit` has the wrong type: function implementation is missing",
                "wasi:cli/exit@0.2.0 is another one than here: its `exit` does not exist",
            ),
            (
                "`decide` of callgate:listener/grant@0.1.0: type mismatch with results: expected `bool` found `u8`",
                "callgate:listener/grant@0.1.0 is another one than here: its `decide` has another type",
            ),
            ("something else", "an interface is another one than here: its `type` has another type"),
        ];
        for (words, ours) in cases {
            let error = wrong(&wasmtime::Error::msg(words)).to_string();
            assert!(error.starts_with(ours), "{error}");
        }
    }
}
