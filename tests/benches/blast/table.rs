//! Prints what was measured.

use std::time::Duration;

use crate::load::Measured;

pub(crate) fn head() {
    println!(
        "{:<52} {:>7} {:>9} {:>9} {:>9} {:>6} {:>8} {:>9} {:>10} {:>7} {:>15} {:>7}",
        "",
        "healthy",
        "added p50",
        "p99",
        "most",
        "lost",
        "refused",
        "failures",
        "suspended",
        "calls/s",
        "resident MiB",
        "threads"
    );
}

pub(crate) fn print(row: &Measured) {
    let at = |per_mille: usize| row.added.get(row.added.len() * per_mille / 1_000).copied();
    let [p50, p99] = [at(500), at(990)].map(millis);
    let [resident, resident_after] = row.resident_kib.map(|kib| kib / 1_024);
    let [threads, threads_after] = row.threads;
    println!(
        "{:<52} {:>7} {p50:>9} {p99:>9} {:>9} {:>6} {:>8} {:>9} {:>10} {:>7.0} {:>15} {:>7}",
        row.what,
        row.added.len(),
        millis(row.added.last().copied()),
        row.lost,
        row.refused,
        row.failures,
        row.suspended,
        row.per_second,
        format!("{resident} to {resident_after}"),
        format!("{threads} to {threads_after}"),
    );
}

fn millis(time: Option<Duration>) -> String {
    format!("{:.2} ms", time.unwrap_or_default().as_secs_f64() * 1e3)
}
