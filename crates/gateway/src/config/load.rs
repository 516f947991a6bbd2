//! Reading a configuration file.

use std::path::Path;

use super::document::Document;
use super::{Config, Problems, Source};

impl Config {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(path: &Path) -> Result<Self, Problems> {
        Self::parse(Source::read(path)?)
    }

    /// Checks a text.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(source: Source) -> Result<Self, Problems> {
        match toml::from_str::<Document>(source.text()) {
            Ok(document) => document.resolve(source),
            Err(error) => {
                let line = source.line(&error.span().unwrap_or_default());
                Err(source.problem(line, error.message().trim_end()).into())
            }
        }
    }
}

#[cfg(test)]
mod tests;
