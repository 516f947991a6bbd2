//! Times things many times over, each in turn, and keeps medians and 99th percentiles.

use std::future::Future;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

/// Each is measured in so many blocks. What is compared takes turns, so that a machine that is busy for a while is busy for
/// all of them.
const BLOCKS: u32 = 10;
/// A block ends after this time, waiting that is not timed included, or after so many rounds.
const BLOCK: Duration = Duration::from_millis(80);
const MOST_ROUNDS: usize = 5_000;
/// A block has at least so many rounds, whatever they take.
const FEWEST_ROUNDS: usize = 5;

/// Does a thing once, and says how long the part took that counts.
pub(crate) type Round = Box<dyn FnMut() -> BoxFuture<'static, Duration> + Send>;

/// Times a future. Making it does not count.
pub(crate) fn round<F>(make: impl FnMut() -> F + Send + 'static) -> Round
where
    F: Future<Output = ()> + Send + 'static,
{
    round_after(|| std::future::ready(()), make)
}

/// Times the second future, once the first is over.
pub(crate) fn round_after<W, F>(
    mut wait: impl FnMut() -> W + Send + 'static,
    mut make: impl FnMut() -> F + Send + 'static,
) -> Round
where
    W: Future<Output = ()> + Send + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    Box::new(move || {
        let (wait, work) = (wait(), make());
        async move {
            wait.await;
            let begun = Instant::now();
            work.await;
            begun.elapsed()
        }
        .boxed()
    })
}

/// How long a thing took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) rounds: usize,
}

/// Measures these in turn. Microseconds, in the order of the subjects.
pub(crate) async fn compare(subjects: &mut [(String, Round)]) -> Vec<Times> {
    let mut times = vec![Vec::new(); subjects.len()];
    // The first block of each warms up.
    for block in 0..=BLOCKS {
        for ((_, round), times) in subjects.iter_mut().zip(&mut times) {
            let begun = Instant::now();
            let mut taken = Vec::new();
            while taken.len() < FEWEST_ROUNDS || (taken.len() < MOST_ROUNDS && begun.elapsed() < BLOCK) {
                taken.push(round().await);
            }
            if block > 0 {
                times.append(&mut taken);
            }
        }
    }
    times.into_iter().map(Times::of).collect()
}

impl Times {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |percent: usize| times.get(times.len() * percent / 100).map_or(0.0, |time| time.as_secs_f64() * 1e6);
        Self { p50: at(50), p99: at(99), rounds: times.len() }
    }
}

/// Figures under a heading, as they come.
#[derive(Debug)]
pub(crate) struct Table {
    title: &'static str,
    columns: &'static [&'static str],
    rows: Vec<(String, Vec<f64>)>,
}

impl Table {
    pub(crate) fn new(title: &'static str, columns: &'static [&'static str]) -> Self {
        Self { title, columns, rows: Vec::new() }
    }

    /// A table of comparisons: each group in relation to its first row.
    pub(crate) fn of_times(title: &'static str) -> Self {
        Self::new(title, &["p50 µs", "p99 µs", "p50 / first", "p50 - first", "rounds"])
    }

    pub(crate) fn add(&mut self, what: impl Into<String>, figures: Vec<f64>) {
        self.rows.push((what.into(), figures));
    }

    /// Measures a group and adds it.
    pub(crate) async fn compare(&mut self, mut subjects: Vec<(String, Round)>) -> Vec<Times> {
        let times = compare(&mut subjects).await;
        if let Some((what, _)) = subjects.last() {
            eprintln!("measured: {}: {what}", self.title);
        }
        let first = times.first().map_or(0.0, |times| times.p50);
        for ((what, _), it) in subjects.into_iter().zip(&times) {
            self.add(what, vec![it.p50, it.p99, it.p50 / first, it.p50 - first, it.rounds as f64]);
        }
        times
    }

    pub(crate) fn print(&self) {
        println!("\n{:<64}{}", self.title, self.columns.iter().map(|it| format!("{it:>14}")).collect::<String>());
        for (what, figures) in &self.rows {
            println!("{what:<64}{}", figures.iter().map(|it| format!("{it:>14.2}")).collect::<String>());
        }
    }

    pub(crate) fn json(&self) -> Value {
        let row = |(what, figures): &(String, Vec<f64>)| {
            let figures = self.columns.iter().zip(figures).map(|(column, it)| ((*column).to_owned(), (*it).into()));
            let what = [("what".to_owned(), what.as_str().into())];
            Value::Object(what.into_iter().chain(figures).collect::<Map<_, _>>())
        };
        serde_json::json!({ "title": self.title, "rows": self.rows.iter().map(row).collect::<Vec<_>>() })
    }
}
