//! The files that the other modules look at.

use std::fs;
use std::path::{Path, PathBuf};

use callgate_tests::built::root;

/// Folders that hold what was built or installed.
const NOT_OURS: [&str; 5] = [".git", "target", "node_modules", "__pycache__", "mutants.out"];

/// A text file of the tree.
pub(crate) struct File {
    /// Relative to the root, with `/` between folders.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl File {
    /// The file's lines with their numbers, from 1.
    pub(crate) fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(number, line)| (number + 1, line))
    }

    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

/// Every text file of ours, in the order of paths.
pub(crate) fn files() -> Vec<File> {
    let mut paths = Vec::new();
    collect(&root(), &mut paths);
    paths.sort();
    let relative = |path: &Path| path.strip_prefix(root()).unwrap().to_string_lossy().replace('\\', "/");
    let read = |path: &PathBuf| Some(File { path: relative(path), text: fs::read_to_string(path).ok()? });
    paths.iter().filter_map(read).collect()
}

pub(crate) fn rust_files() -> Vec<File> {
    files().into_iter().filter(|file| file.path.ends_with(".rs")).collect()
}

/// Fails with the list of what was found, if anything was.
pub(crate) fn assert_none(rule: &str, found: &[String]) {
    assert!(found.is_empty(), "{rule}:\n{}", found.join("\n"));
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let kind = entry.file_type().unwrap();
        if NOT_OURS.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), paths);
        } else if kind.is_file() {
            paths.push(entry.path());
        }
    }
}
