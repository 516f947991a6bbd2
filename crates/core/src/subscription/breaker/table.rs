//! The breakers of one listener that have seen a failure. A bounded table, over a clock that its user passes in.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use super::BreakerLimits;

/// How many breakers one listener has at most. Those over it are forgotten, which costs a few failures more and lets
/// nothing through.
const ROWS: usize = 4_096;

/// Which breaker: fingerprints of a caller and of what is asked on its behalf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) caller: [u8; 32],
    pub(super) question: [u8; 32],
}

/// Whether an event is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is.
    Ordinary,
    /// It is, as the one try of a breaker that is open.
    Probe(u64),
    /// It is not.
    Suspended {
        /// How many failures in a row there were.
        failures: u32,
        /// The kind of the last one.
        last: &'static str,
    },
}

/// What an event's end changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::subscription) enum Change {
    /// The listener is not asked for that long.
    Opened { pause: Duration },
    /// The listener is asked again, after so many events that were not run.
    Closed { suspended: u64 },
}

/// Breakers by key. One that never failed, or whose listener answered since, has no row.
#[derive(Debug)]
pub(super) struct Table {
    rows: HashMap<Key, Row>,
    capacity: usize,
    probes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    state: State,
    /// In a row.
    failures: u32,
    last: &'static str,
    pause: Duration,
    suspended: u64,
    touched: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Events are run, and their failures counted.
    Closed,
    /// None is run before that moment. The first one after it is the probe.
    Open { until: Instant },
    /// The probe of that number is under way, and nothing else is run.
    Probing { number: u64, until: Instant },
}

impl Default for Table {
    fn default() -> Self {
        Self::new(ROWS)
    }
}

impl Table {
    /// A table of at most so many breakers.
    pub(super) fn new(capacity: usize) -> Self {
        Self { rows: HashMap::new(), capacity, probes: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn admit(&mut self, key: &Key, now: Instant) -> Admission {
        let Some(row) = self.rows.get_mut(key) else { return Admission::Ordinary };
        row.touched = now;
        match row.state {
            State::Closed => Admission::Ordinary,
            State::Open { until } if until <= now => {
                self.probes += 1;
                row.state = State::Probing { number: self.probes, until };
                Admission::Probe(self.probes)
            }
            State::Open { .. } | State::Probing { .. } => {
                row.suspended += 1;
                Admission::Suspended { failures: row.failures, last: row.last }
            }
        }
    }

    /// An event has failed. Of events that began before the breaker opened nothing more is counted.
    pub(super) fn failed(
        &mut self,
        key: Key,
        probe: Option<u64>,
        kind: &'static str,
        limits: &BreakerLimits,
        now: Instant,
    ) -> Option<Change> {
        let row = match (self.rows.get(&key).copied(), probe) {
            (Some(row), probe) if row.awaits(probe) => row,
            (None, None) => Row::new(now),
            _ => return None,
        };
        let failures = row.failures.saturating_add(1);
        let opens = probe.is_some() || failures >= limits.failures;
        let pause = match row.pause {
            Duration::ZERO => limits.pause.min(limits.longest_pause),
            pause => pause.saturating_mul(2).min(limits.longest_pause),
        };
        let counted = Row { failures, last: kind, touched: now, ..row };
        let next = match opens {
            // A pause that no clock can count to is none.
            true => Row { state: State::Open { until: now.checked_add(pause).unwrap_or(now) }, pause, ..counted },
            false => counted,
        };
        self.rows.insert(key, next);
        if self.rows.len() > self.capacity {
            self.forget_one();
        }
        opens.then_some(Change::Opened { pause })
    }

    /// An event was answered. Where one is tried, only that one's answer counts.
    pub(super) fn succeeded(&mut self, key: &Key, probe: Option<u64>) -> Option<Change> {
        let row = self.rows.get(key).copied().filter(|row| row.awaits(probe))?;
        self.rows.remove(key);
        probe.is_some().then_some(Change::Closed { suspended: row.suspended })
    }

    /// A probe did not come to an end.
    pub(super) fn give_back(&mut self, key: &Key, number: u64) {
        let Some(row) = self.rows.get_mut(key) else { return };
        match row.state {
            State::Probing { number: under_way, until } if under_way == number => row.state = State::Open { until },
            _ => {}
        }
    }

    /// Forgets the row that was least in use among those of the caller that has most: nobody's failures, however many, push
    /// out a caller that has fewer.
    fn forget_one(&mut self) {
        let mut held: HashMap<[u8; 32], usize> = HashMap::new();
        for key in self.rows.keys() {
            *held.entry(key.caller).or_default() += 1;
        }
        let most = held.values().copied().max().unwrap_or_default();
        let of_the_most = self.rows.iter().filter(|(key, _)| held.get(&key.caller) == Some(&most));
        if let Some(key) = of_the_most.min_by_key(|(_, row)| row.touched).map(|(key, _)| *key) {
            self.rows.remove(&key);
        }
    }
}

impl Row {
    fn new(now: Instant) -> Self {
        Self { state: State::Closed, failures: 0, last: "", pause: Duration::ZERO, suspended: 0, touched: now }
    }

    /// Whether the end of such an event says anything to this breaker.
    fn awaits(&self, probe: Option<u64>) -> bool {
        match (self.state, probe) {
            (State::Closed, None) => true,
            (State::Probing { number, .. }, Some(probe)) => number == probe,
            _ => false,
        }
    }
}
