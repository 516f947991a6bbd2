//! Every clause of the contract is named by a test, or stands in the list of what is not built yet.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::{assert_none, files, rust_files};

/// Parts of clauses that need what is not built yet, by the name that the first test of each will begin with. `w7_http` is
/// a part of W7; `w7` would be all of it. The contract says the same under each clause. This list only gets shorter.
const DEFERRED: [&str; 6] = ["w2_http", "w3_http", "w5_task", "w6_http", "w7_http", "w7_rules"];

/// How many clauses of each letter there are, and the table, which is a clause of its own.
const CLAUSES: [(char, usize); 7] = [('n', 5), ('g', 11), ('b', 7), ('a', 5), ('e', 4), ('f', 6), ('w', 7)];
const TABLE: &str = "e_table";

fn contract() -> String {
    let file = files().into_iter().find(|file| file.path == "crates/core/CONTRACT.md");
    file.expect("the contract is in crates/core/CONTRACT.md").text
}

fn clauses() -> BTreeSet<String> {
    let numbered = CLAUSES.iter().flat_map(|(letter, count)| (1..=*count).map(move |n| format!("{letter}{n}")));
    numbered.chain([TABLE.to_owned()]).collect()
}

/// Names of all test functions, with the file that each is in.
fn tests() -> BTreeMap<String, String> {
    let mut tests = BTreeMap::new();
    for file in rust_files() {
        let mut attributed = false;
        for line in file.text.lines().map(str::trim) {
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                attributed = true;
            } else if let Some(name) = function(line) {
                if attributed {
                    tests.insert(name.to_owned(), file.path.clone());
                }
                attributed = false;
            }
        }
    }
    tests
}

fn function(line: &str) -> Option<&str> {
    let declaration = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?;
    declaration.split(['(', '<']).next()
}

/// The clauses that a test's name begins with: `n2` and `n3` for `n2_n3_what_is_no_object_counts_as_empty`.
fn named(test: &str) -> Vec<String> {
    if test.starts_with(TABLE) {
        return vec![TABLE.to_owned()];
    }
    let clauses = clauses();
    test.split('_').take_while(|word| clauses.contains(*word)).map(str::to_owned).collect()
}

#[test]
fn the_contract_has_these_clauses_and_no_others() {
    let contract = contract();
    let headed = contract.lines().filter_map(|line| line.strip_prefix("**")?.split_once(" · ")).map(|(id, _)| id);
    let mut headed: BTreeSet<_> = headed.map(str::to_lowercase).collect();
    assert!(contract.contains("\n| cause | answer |\n"), "table E");
    headed.insert(TABLE.to_owned());
    assert_eq!(headed, clauses());
}

#[test]
fn every_clause_has_a_test_or_is_deferred() {
    let proven: BTreeSet<_> = tests().keys().flat_map(|test| named(test)).collect();
    let without =
        clauses().into_iter().filter(|clause| !proven.contains(clause) && !DEFERRED.contains(&clause.as_str()));
    assert_none("clauses without a test", &without.collect::<Vec<_>>());
}

#[test]
fn what_has_a_test_is_not_deferred() {
    let begins = |test: &str, deferred: &str| test == deferred || test.starts_with(&format!("{deferred}_"));
    let mut done = Vec::new();
    for (test, file) in tests() {
        let built = DEFERRED.iter().filter(|deferred| begins(&test, deferred));
        done.extend(built.map(|deferred| format!("{deferred}: {test} in {file}")));
    }
    assert_none("take these from the list in this file and from the contract", &done);
}

#[test]
fn the_contract_says_what_is_deferred() {
    let contract = contract();
    let lines = contract.lines().filter_map(|line| line.strip_prefix("> Not built yet: `"));
    let said: BTreeSet<_> = lines.filter_map(|line| line.split('`').next()).collect();
    assert_eq!(said, DEFERRED.into_iter().collect());
}
