//! Stops asking a listener that keeps failing, for as long as it does (F6).
//!
//! What is not asked has failed, so nothing gets through a breaker. Each caller has breakers of its own, for each hook and,
//! before a call, for each tool: whatever a caller sends, it can only open its own.

mod table;

#[cfg(test)]
mod tests;

use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::caller::{Caller, Identity};
use crate::failure::ListenerFailure;

use table::{Admission, Key, Table};

pub(super) use table::Change;

/// When a listener that keeps failing is no longer asked, and when it is tried again. The same for each of its breakers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerLimits {
    /// After so many failures in a row it is not asked; 0 to ask it always. Default 5.
    pub failures: u32,
    /// How long it is left alone at first. Then one event tries it. Default 1 s.
    pub pause: Duration,
    /// Each try that fails doubles the pause, up to this. Default 30 s.
    pub longest_pause: Duration,
}

impl Default for BreakerLimits {
    fn default() -> Self {
        Self { failures: 5, pause: Duration::from_secs(1), longest_pause: Duration::from_secs(30) }
    }
}

/// What a listener is asked, as breakers tell questions apart. Nothing in it is chosen by a caller but which of the tools
/// that exist for it is called.
#[derive(Clone, Copy, Debug)]
pub(super) enum Question<'q> {
    Grant(&'q Caller),
    BeforeCall(&'q Caller, &'q str),
    /// Has no breaker: a caller could open it with a few calls and then act unrecorded. What a report may cost is bounded
    /// by its deadline and by how many run at once.
    AfterCall,
}

/// All breakers of one listener.
#[derive(Debug)]
pub(super) struct Breakers {
    limits: BreakerLimits,
    table: Mutex<Table>,
    suspended: AtomicU64,
}

/// Leave to ask. Dropped without an end, as when the caller's future is, it says nothing about the listener; if it was the
/// one try of a breaker that is open, the next event gets that.
#[must_use = "how the event ended decides whether the next one is asked"]
#[derive(Debug)]
pub(super) struct Pass<'b> {
    breakers: &'b Breakers,
    question: Question<'b>,
    probe: Option<u64>,
}

/// What the end of an event says about its listener.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    /// It answered. An error value and a decision that is not allowed are answers too: they may be about this one call.
    Sound,
    /// It failed in a way that costs, of that kind.
    Broken(&'static str),
    /// It was not reached.
    Unknown,
}

impl Breakers {
    pub(super) fn new(limits: BreakerLimits) -> Self {
        Self { limits, table: Mutex::default(), suspended: AtomicU64::new(0) }
    }

    /// How many events were not run.
    pub(super) fn suspended(&self) -> u64 {
        self.suspended.load(Ordering::Relaxed)
    }

    /// Asks for leave to ask that.
    ///
    /// # Errors
    /// [`ListenerFailure::Suspended`] while the question's breaker is open.
    pub(super) fn admit<'b>(&'b self, question: Question<'b>, now: Instant) -> Result<Pass<'b>, ListenerFailure> {
        let probe = match self.admission(question, now) {
            Admission::Ordinary => None,
            Admission::Probe(number) => Some(number),
            Admission::Suspended { failures, last } => {
                self.suspended.fetch_add(1, Ordering::Relaxed);
                return Err(ListenerFailure::Suspended { failures, last });
            }
        };
        Ok(Pass { breakers: self, question, probe })
    }

    fn admission(&self, question: Question<'_>, now: Instant) -> Admission {
        // Nobody has failed is what nearly every event finds, so it is found without a digest.
        if self.table().is_empty() {
            return Admission::Ordinary;
        }
        let key = question.key();
        key.map_or(Admission::Ordinary, |key| self.table().admit(&key, now))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // A row is changed in one assignment or not at all, so a panic leaves none half written.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pass<'_> {
    /// Says how the event ended, and tells whether a breaker opened or closed with that.
    pub(super) fn settle<T>(mut self, result: &Result<T, ListenerFailure>, now: Instant) -> Option<Change> {
        let health = Health::of(result);
        if self.breakers.limits.failures == 0 || health == Health::Unknown {
            return None;
        }
        if health == Health::Sound && self.breakers.table().is_empty() {
            return None;
        }
        let key = self.question.key()?;
        let probe = self.probe.take();
        let mut table = self.breakers.table();
        match health {
            Health::Broken(kind) => table.failed(key, probe, kind, &self.breakers.limits, now),
            Health::Sound => table.succeeded(&key, probe),
            Health::Unknown => None,
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if let Some((number, key)) = self.probe.zip(self.question.key()) {
            self.breakers.table().give_back(&key, number);
        }
    }
}

impl Health {
    fn of<T>(result: &Result<T, ListenerFailure>) -> Self {
        use ListenerFailure as Failure;
        let Err(failure) = result else { return Self::Sound };
        match failure {
            Failure::Trap { .. }
            | Failure::Exit { .. }
            | Failure::Panic(_)
            | Failure::Deadline(_)
            | Failure::Limit { .. }
            | Failure::BadReturn(_)
            | Failure::Instantiation(_) => Self::Broken(failure.kind()),
            Failure::Returned(_) | Failure::InvalidDecision(_) => Self::Sound,
            // Whoever fills the places of a listener must not open a breaker of those who wait for one.
            Failure::Overload | Failure::NotLoaded(_) | Failure::Suspended { .. } => Self::Unknown,
        }
    }
}

impl<'q> Question<'q> {
    /// The hook's name in logs.
    pub(super) fn hook(self) -> &'static str {
        match self {
            Self::Grant(_) => "grant",
            Self::BeforeCall(..) => "before-call",
            Self::AfterCall => "after-call",
        }
    }

    pub(super) fn caller(self) -> Option<&'q Caller> {
        match self {
            Self::Grant(caller) | Self::BeforeCall(caller, _) => Some(caller),
            Self::AfterCall => None,
        }
    }

    pub(super) fn tool(self) -> Option<&'q str> {
        match self {
            Self::BeforeCall(_, tool) => Some(tool),
            Self::Grant(_) | Self::AfterCall => None,
        }
    }

    /// Of an identity only what says whose it is: claims change with each token, and a breaker is to outlast those.
    fn key(self) -> Option<Key> {
        let Identity { subject, issuer, auth_method, tenant, .. } = self.caller()?.identity();
        let caller = fingerprint(&(subject, issuer, auth_method, tenant));
        Some(Key { caller, question: fingerprint(&(self.hook(), self.tool())) })
    }
}

/// Stands for a value of any size, so that a table of many identities stays small. Two values have the same only if they are
/// equal, or if someone has found a collision of SHA-256.
fn fingerprint(value: &impl Hash) -> [u8; 32] {
    let mut hasher = Fingerprint(Sha256::new());
    value.hash(&mut hasher);
    hasher.0.finalize().into()
}

struct Fingerprint(Sha256);

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest = self.0.clone().finalize();
        digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}
