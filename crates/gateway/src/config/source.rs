//! The text of a configuration file, and what is wrong with it where.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The text of a file, kept to turn positions into lines.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    text: String,
}

/// Something in a file that keeps it from being used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub file: PathBuf,
    /// Counted from 1; none when the file as a whole is meant.
    pub line: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

/// Everything that was found wrong, one a line. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Source {
    /// Reads a file.
    ///
    /// # Errors
    /// When it can not be read or is no UTF-8.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        match std::fs::read_to_string(path) {
            Ok(text) => Ok(Self::new(path, text)),
            Err(error) => {
                Err(Problem { file: path.into(), line: None, reason: format!("the file can not be read: {error}") })
            }
        }
    }

    /// A text that stands for a file of that name.
    pub fn new(path: &Path, text: impl Into<String>) -> Self {
        Self { path: path.into(), text: text.into() }
    }

    /// The file's name as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A path as the file means it: relative to the folder that the file is in.
    pub fn resolve(&self, path: &Path) -> PathBuf {
        self.path.parent().map_or_else(|| path.into(), |folder| folder.join(path))
    }

    /// The line of a position, counted from 1.
    pub fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.as_bytes().iter().take(span.start);
        1 + before.filter(|byte| **byte == b'\n').count()
    }

    /// A problem in a line of the file.
    pub fn problem(&self, line: usize, reason: impl Into<String>) -> Problem {
        Problem { file: self.path.clone(), line: Some(line), reason: reason.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        write!(f, " {}", self.reason)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

impl std::error::Error for Problems {}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_has_a_line() {
        let source = Source::new(Path::new("etc/callgate.toml"), "a\nb\n\nd");
        let lines: Vec<_> = (0..7).map(|start| source.line(&(start..start))).collect();
        assert_eq!(lines, [1, 1, 2, 2, 3, 4, 4]);
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let source = Source::new(Path::new("etc/callgate.toml"), "");
        assert_eq!(source.resolve(Path::new("gate.wasm")), Path::new("etc/gate.wasm"));
        assert_eq!(source.resolve(Path::new("/srv/gate.wasm")), Path::new("/srv/gate.wasm"));
    }

    #[test]
    fn problems_are_one_a_line() {
        let source = Source::new(Path::new("callgate.toml"), "");
        let whole = Problem { file: "callgate.toml".into(), line: None, reason: "gone".into() };
        let problems = Problems(vec![source.problem(3, "odd"), whole]);
        assert_eq!(problems.to_string(), "callgate.toml:3: odd\ncallgate.toml: gone");
    }
}
