//! How source files look.

use crate::tree::{assert_none, files, rust_files};

const MAX_LINES: usize = 500;

#[test]
fn no_source_file_is_long() {
    let long = rust_files().into_iter().filter(|file| file.lines().count() > MAX_LINES).map(|file| file.path);
    assert_none("files over 500 lines", &long.collect::<Vec<_>>());
}

#[test]
fn modules_are_named_for_what_they_hold() {
    let named = rust_files().into_iter().filter(|file| file.name() == "mod.rs").map(|file| file.path);
    assert_none("`foo.rs` stands beside `foo/`", &named.collect::<Vec<_>>());
}

#[test]
fn every_exception_from_a_lint_has_a_reason() {
    let mut bare = Vec::new();
    for file in rust_files() {
        for word in ["allow", "expect"] {
            for opening in [format!("#[{word}("), format!("#![{word}(")] {
                for (position, _) in file.text.match_indices(&opening) {
                    let attribute = file.text[position..].split(")]").next().unwrap();
                    // A comment or a text may speak of attributes.
                    let line_start = file.text[..position].rfind('\n').map_or(0, |newline| newline + 1);
                    let alone = file.text[line_start..position].trim().is_empty();
                    if alone && !attribute.contains("reason = \"") {
                        bare.push(format!("{}: {}", file.path, attribute.lines().next().unwrap()));
                    }
                }
            }
        }
    }
    assert_none("exceptions without a reason", &bare);
}

#[test]
fn the_checks_of_the_language_are_off_in_one_file() {
    // Written in halves, so that this file is not one of them.
    let off = ["allow(unsafe", "_code"].concat();
    let files = rust_files().into_iter().filter(|file| file.text.contains(&off)).map(|file| file.path);
    assert_eq!(files.collect::<Vec<_>>(), ["crates/wasm/src/component/precompiled.rs"]);
}

#[test]
fn no_file_names_a_folder_of_some_machine() {
    // Written in halves, so that this file does not name one.
    let folders = [("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/"), ("/Us", "ers/"), ("../sha", "red")];
    let mut found = Vec::new();
    for file in files() {
        for (number, line) in file.lines() {
            let named = folders.iter().map(|(head, tail)| format!("{head}{tail}")).find(|it| mentions(line, it));
            found.extend(named.map(|folder| format!("{}:{number}: {folder}", file.path)));
        }
    }
    assert_none("folders of some machine", &found);
}

/// Whether the line names that folder: what follows a letter is the middle of some other path.
fn mentions(line: &str, folder: &str) -> bool {
    line.match_indices(folder)
        .any(|(at, _)| !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_'))
}
