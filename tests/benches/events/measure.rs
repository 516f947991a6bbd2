//! Times things many times over, each in turn, and keeps medians and 99th percentiles.

use std::future::Future;
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};

/// Each is measured in so many blocks. What is compared takes turns, so that a machine that is busy for a while is busy for
/// all of them.
const BLOCKS: u32 = 10;
/// A block is so many bursts, or as many as begin in that time.
const BURSTS: u32 = 12;
const BLOCK: Duration = Duration::from_millis(500);
/// What is measured comes in bursts of so many, as many as there are instances ready by default.
const BURST: u32 = 4;
/// The process is idle before each burst, for the same time whatever is measured: what comes first after that finds the
/// processor's caches cold, and the rest of the burst finds them warm.
const PAUSE: Duration = Duration::from_millis(20);

/// Something that is measured.
pub(crate) struct Subject {
    what: String,
    ready: Make,
    work: Make,
}

type Make = Box<dyn FnMut() -> BoxFuture<'static, ()> + Send>;

impl Subject {
    /// Times a future. Making it does not count.
    pub(crate) fn new<F>(what: impl Into<String>, mut work: impl FnMut() -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self {
            what: what.into(),
            ready: Box::new(|| std::future::ready(()).boxed()),
            work: Box::new(move || work().boxed()),
        }
    }

    /// Before each burst it waits for that.
    pub(crate) fn after(self, ready: impl FnMut() -> BoxFuture<'static, ()> + Send + 'static) -> Self {
        Self { ready: Box::new(ready), ..self }
    }

    /// Each round of a burst.
    async fn burst(&mut self) -> Vec<Duration> {
        (self.ready)().await;
        tokio::time::sleep(PAUSE).await;
        let mut taken = Vec::with_capacity(BURST as usize);
        for _ in 0..BURST {
            let work = (self.work)();
            let begun = Instant::now();
            work.await;
            taken.push(begun.elapsed());
        }
        taken
    }
}

/// How long a thing took, in microseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// The median of the rounds that follow upon another one.
    pub(crate) p50: f64,
    p99: f64,
    /// The median of the rounds that follow upon a pause.
    idle_p50: f64,
    rounds: usize,
}

/// Measures these in turn.
async fn compare(subjects: &mut [Subject]) -> Vec<Times> {
    let mut times = vec![(Vec::new(), Vec::new()); subjects.len()];
    // The first block of each warms up.
    for block in 0..=BLOCKS {
        for (subject, (after_pause, others)) in subjects.iter_mut().zip(&mut times) {
            let begun = Instant::now();
            for _ in (0..BURSTS).take_while(|burst| *burst == 0 || begun.elapsed() < BLOCK) {
                let mut taken = subject.burst().await.into_iter();
                if block > 0 {
                    after_pause.extend(taken.next());
                    others.extend(taken);
                }
            }
        }
    }
    times.into_iter().map(|(after_pause, others)| Times::of(after_pause, others)).collect()
}

impl Times {
    fn of(mut after_pause: Vec<Duration>, mut others: Vec<Duration>) -> Self {
        Self {
            p50: percentile(&mut others, 50),
            p99: percentile(&mut others, 99),
            idle_p50: percentile(&mut after_pause, 50),
            rounds: others.len(),
        }
    }
}

/// In microseconds.
pub(crate) fn percentile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort_unstable();
    times.get(times.len() * percent / 100).map_or(0.0, |time| time.as_secs_f64() * 1e6)
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
        Self::new(
            title,
            &["p50 µs", "p99 µs", "/ first", "- first", "idle p50", "/ its first", "- its first", "rounds"],
        )
    }

    pub(crate) fn add(&mut self, what: impl Into<String>, figures: Vec<f64>) {
        self.rows.push((what.into(), figures));
    }

    /// Measures a group and adds it.
    pub(crate) async fn compare(&mut self, mut subjects: Vec<Subject>) -> Vec<Times> {
        let times = compare(&mut subjects).await;
        let (first, idle) = times.first().map_or((0.0, 0.0), |times| (times.p50, times.idle_p50));
        for (Subject { what, .. }, it) in subjects.into_iter().zip(&times) {
            eprintln!("measured: {}: {what}", self.title);
            let beside = |time: f64, first: f64| [time / first, time - first];
            let after_pause = [vec![it.idle_p50], beside(it.idle_p50, idle).into()].concat();
            let others = [vec![it.p50, it.p99], beside(it.p50, first).into()].concat();
            self.add(what, [others, after_pause, vec![it.rounds as f64]].concat());
        }
        times
    }

    pub(crate) fn print(&self) {
        println!("\n{:<64}{}", self.title, self.columns.iter().map(|it| format!("{it:>12}")).collect::<String>());
        for (what, figures) in &self.rows {
            println!("{what:<64}{}", figures.iter().map(|it| format!("{it:>12.2}")).collect::<String>());
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
