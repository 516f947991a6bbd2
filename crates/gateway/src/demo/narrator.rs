//! How the session is told.

use std::io::Write;

use anyhow::Result;

use crate::text::printable;

/// Longer texts of a server are cut: the reader is to see what happened, not everything that was said.
const MAX_SHOWN: usize = 600;

/// Writes numbered steps, explanations, and what was really sent and received.
pub(super) struct Narrator<'o, W> {
    out: &'o mut W,
    steps: u32,
}

impl<'o, W: Write> Narrator<'o, W> {
    pub(super) fn new(out: &'o mut W) -> Self {
        Self { out, steps: 0 }
    }

    /// Begins a step.
    pub(super) fn step(&mut self, title: &str) -> Result<()> {
        self.steps += 1;
        writeln!(self.out, "\n{}. {title}", self.steps)?;
        self.out.flush()?;
        Ok(())
    }

    /// Explains.
    pub(super) fn say(&mut self, text: &str) -> Result<()> {
        writeln!(self.out, "   {text}")?;
        Ok(())
    }

    /// Shows what somebody said, word for word.
    pub(super) fn show(&mut self, who: &str, text: &str) -> Result<()> {
        let mut shown = printable(text);
        if let Some((end, _)) = shown.char_indices().nth(MAX_SHOWN) {
            shown.truncate(end);
            shown.push_str(" …");
        }
        writeln!(self.out, "   {who:>9} | {shown}")?;
        Ok(())
    }
}
