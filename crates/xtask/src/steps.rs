//! Named steps with their times.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// Steps that ran, for the table at the end.
#[derive(Debug)]
pub(crate) struct Steps {
    began: Instant,
    done: Vec<(&'static str, Duration)>,
}

impl Steps {
    pub(crate) fn begin() -> Self {
        Self { began: Instant::now(), done: Vec::new() }
    }

    /// Runs one step. Its error carries the step's name.
    pub(crate) fn step<T>(&mut self, name: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
        println!("\n== {name}");
        let began = Instant::now();
        let value = work().with_context(|| format!("step `{name}` failed"))?;
        let took = began.elapsed();
        println!("== {name}: ok, {}", seconds(took));
        self.done.push((name, took));
        Ok(value)
    }

    /// Prints what took how long.
    pub(crate) fn summary(&self) {
        println!();
        for (name, took) in &self.done {
            println!("{:>9}  {name}", seconds(*took));
        }
        println!("{:>9}  in all", seconds(self.began.elapsed()));
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
