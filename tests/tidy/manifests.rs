//! What manifests say.

use callgate_tests::built::root;

use crate::tree::{File, assert_none, files};

fn manifests() -> Vec<File> {
    files().into_iter().filter(|file| file.name() == "Cargo.toml" && file.text.contains("[package]")).collect()
}

#[test]
fn every_package_has_the_licence() {
    assert!(root().join("LICENSE").exists());
    let licensed = ["license.workspace = true", "license = \"Apache-2.0\""];
    let without = manifests().into_iter().filter(|file| !licensed.iter().any(|line| file.text.contains(line)));
    assert_none("packages without a licence", &without.map(|file| file.path).collect::<Vec<_>>());
}

#[test]
fn every_package_has_the_lints_of_its_workspace() {
    let without = manifests().into_iter().filter(|file| !file.text.contains("[lints]\nworkspace = true"));
    assert_none("packages without the workspace's lints", &without.map(|file| file.path).collect::<Vec<_>>());
}

#[test]
fn every_library_documents_what_is_public() {
    let libraries = files().into_iter().filter(|file| file.path.starts_with("crates/") && file.name() == "lib.rs");
    let without = libraries.filter(|file| !file.text.contains("#![deny(missing_docs)]"));
    assert_none("libraries without `#![deny(missing_docs)]`", &without.map(|file| file.path).collect::<Vec<_>>());
}

#[test]
fn only_programs_use_errors_without_a_type() {
    let allowed = ["crates/gateway/Cargo.toml", "crates/xtask/Cargo.toml"];
    let users = manifests().into_iter().filter(|file| file.text.lines().any(|line| line.starts_with("anyhow")));
    let others = users.map(|file| file.path).filter(|path| !allowed.contains(&path.as_str()));
    assert_none("packages that use anyhow and are no program of this workspace", &others.collect::<Vec<_>>());
}

#[test]
fn every_workspace_has_its_versions_locked() {
    let heads = files().into_iter().filter(|file| file.name() == "Cargo.toml" && file.text.contains("[workspace]"));
    let without = heads.filter(|file| !root().join(file.path.replace("Cargo.toml", "Cargo.lock")).exists());
    assert_none("workspaces without a lock file", &without.map(|file| file.path).collect::<Vec<_>>());
}
