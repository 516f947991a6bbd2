//! Times a thing many times over and keeps the median and the 99th percentile.

use std::time::{Duration, Instant};

/// Measurements, in the order in which they were taken.
#[derive(Debug, Default)]
pub(crate) struct Table {
    lines: Vec<Line>,
}

#[derive(Debug)]
struct Line {
    what: String,
    rounds: usize,
    median: Duration,
    p99: Duration,
}

impl Table {
    /// Does it so many times, after a tenth of that to warm up.
    pub(crate) async fn time(&mut self, what: &str, rounds: usize, mut run: impl AsyncFnMut()) {
        for _ in 0..rounds / 10 {
            run().await;
        }
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let begun = Instant::now();
            run().await;
            times.push(begun.elapsed());
        }
        times.sort_unstable();
        let at = |percent: usize| times.get(times.len() * percent / 100).copied().unwrap_or_default();
        let (median, p99) = (at(50), at(99));
        self.lines.push(Line { what: what.to_owned(), rounds, median, p99 });
    }

    pub(crate) fn print(&self) {
        println!("{:<64} {:>8} {:>12} {:>12}", "", "rounds", "median", "p99");
        for Line { what, rounds, median, p99 } in &self.lines {
            println!("{what:<64} {rounds:>8} {:>12} {:>12}", micros(*median), micros(*p99));
        }
    }
}

fn micros(time: Duration) -> String {
    format!("{:.2} µs", time.as_secs_f64() * 1e6)
}
