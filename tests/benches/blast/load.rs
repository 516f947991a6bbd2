//! Calls that arrive at a steady rate, and what becomes of them.

use std::sync::Arc;
use std::time::Duration;

use callgate_core::testing::caller;
use callgate_core::{Caller, Dispatcher, Outcome};
use callgate_tests::host::call;
use callgate_tests::misbehaving::Vice;
use callgate_tests::process::{resident_kib, threads};
use callgate_wasm::Hook;
use tokio::time::Instant;

use crate::hosts::{self, TOOL, WORKS};

/// Calls that arrive in a second.
const RATE: u32 = 300;
/// How long they arrive.
const TIME: Duration = Duration::from_secs(15);
/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) what: &'static str,
    /// The hook of the bad listeners, where there are any.
    bad: Option<Hook>,
    /// One call of so many is for a bad tool, in place of another; none for 0.
    one_of: usize,
}

pub(crate) const ROWS: [Row; 5] = [
    Row { what: "no bad listeners", bad: None, one_of: 0 },
    Row { what: "bad before-call listeners, their tools not called", bad: Some(Hook::BeforeCall), one_of: 0 },
    Row { what: "bad before-call listeners, one call of 5", bad: Some(Hook::BeforeCall), one_of: 5 },
    Row { what: "bad after-call listeners, their tools not called", bad: Some(Hook::AfterCall), one_of: 0 },
    Row { what: "bad after-call listeners, one call of 5", bad: Some(Hook::AfterCall), one_of: 5 },
];

/// So many bad calls that the processor has little time left for others.
pub(crate) const BEYOND: [Row; 2] = [
    Row { what: "bad before-call listeners, one call of 2", bad: Some(Hook::BeforeCall), one_of: 2 },
    Row { what: "bad after-call listeners, one call of 2", bad: Some(Hook::AfterCall), one_of: 2 },
];

/// What became of all calls of a row.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    pub(crate) what: &'static str,
    /// What each healthy call took beyond its tool, in order.
    pub(crate) added: Vec<Duration>,
    /// Healthy calls that got no result.
    pub(crate) lost: usize,
    pub(crate) refused: usize,
    pub(crate) failures: u64,
    pub(crate) suspended: u64,
    pub(crate) per_second: f64,
    /// At the beginning and at the end.
    pub(crate) resident_kib: [u64; 2],
    pub(crate) threads: [usize; 2],
}

impl Measured {
    /// What nearly all healthy calls take beyond their tool at the most.
    pub(crate) fn p99(&self) -> Duration {
        self.added.get(self.added.len() * 99 / 100).copied().unwrap_or_default()
    }
}

pub(crate) async fn run(row: Row) -> Measured {
    let dispatcher = hosts::host(row.bad).await;
    let callers: Vec<_> = (0..8).map(|number| caller(&format!("caller{number}"), &[])).collect();
    // A call of each caller finds code and memory in place, as after a while of service.
    for caller in &callers {
        ask(&dispatcher, caller, WORKS, Instant::now()).await;
    }
    let (resident, threads_before) = (resident_kib(), threads());
    let begun = Instant::now();
    let total = (TIME.as_secs_f64() * f64::from(RATE)) as usize;
    let mut calls = Vec::with_capacity(total);
    for number in 0..total {
        let due = begun + TIME.mul_f64(number as f64 / total as f64);
        tokio::time::sleep_until(due).await;
        let tool = tool(row, number);
        let (dispatcher, caller) =
            (dispatcher.clone(), callers.get(number / 3 % callers.len()).expect("there is").clone());
        calls.push(tokio::spawn(async move { (tool, ask(&dispatcher, &caller, tool, due).await) }));
    }
    let mut measured = Measured { what: row.what, ..Measured::default() };
    for call in calls {
        match call.await.expect("no call panics") {
            (WORKS, (Outcome::Executed(_), took)) => measured.added.push(took.saturating_sub(TOOL)),
            (WORKS, _) => measured.lost += 1,
            (_, (Outcome::Refused(_), _)) => measured.refused += 1,
            _ => {}
        }
    }
    measured.per_second = total as f64 / begun.elapsed().as_secs_f64();
    measured.added.sort_unstable();
    for listener in &dispatcher.rules().current().listeners {
        measured.failures += listener.failures();
        measured.suspended += listener.suspended();
    }
    measured.resident_kib = [resident, resident_kib()];
    measured.threads = [threads_before, threads()];
    measured
}

fn tool(row: Row, number: usize) -> &'static str {
    if row.one_of == 0 || !number.is_multiple_of(row.one_of) {
        return WORKS;
    }
    Vice::ALL.get(number / row.one_of % Vice::ALL.len()).map_or(WORKS, |vice| vice.name())
}

async fn ask(dispatcher: &Dispatcher, caller: &Arc<Caller>, tool: &str, due: Instant) -> (Outcome, Duration) {
    let outcome = dispatcher.call(call(caller, tool, "{}", "{}")).await;
    (outcome, due.elapsed())
}
