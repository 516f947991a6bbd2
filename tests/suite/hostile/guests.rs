//! The guests, and what has to come of asking each of them.
//!
//! Texts of a guest lie at 1024. What its host calls return is written to 64, and what its hooks return to 2048: there the
//! result's discriminant, at 2052 that of the decision or the text of an error, from 2056 on what the decision holds. What
//! the host hands over lies from 65536 on, and from 131072 on there are zeros.

mod verdicts;
mod traps;
mod returns;
mod memory;
mod time;
mod preparation;
mod host_calls;

use std::sync::Arc;
use std::time::Duration;

use callgate_kit::{self as kit, MEMORY};
use callgate_tests::host;
use callgate_wasm::{Hook, LoadedComponent, SandboxLimits};

/// Every one of them.
pub(super) fn all() -> Vec<Guest> {
    [verdicts::all(), traps::all(), returns::all(), memory::all(), time::all(), preparation::all(), host_calls::all()]
        .concat()
}

/// A component with all three hooks.
#[derive(Clone)]
pub(super) struct Guest {
    pub(super) name: &'static str,
    bytes: Vec<u8>,
    /// What it may take, where that is not the default.
    pub(super) limits: fn(&mut SandboxLimits),
    ends: [Ends; 3],
}

/// What comes of asking a guest.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ends {
    /// It abstains, lets the call proceed, takes note.
    Passes,
    /// It denies for that reason.
    Denies(&'static str),
    /// It answers with that result.
    Answers(&'static str),
    /// It fails. The record has that kind and says all of this.
    Fails(&'static str, &'static [&'static str]),
}

/// Nothing against it.
pub(super) const PASS: &str = "(i32.const 2048)";

impl Guest {
    /// One that does the same in all hooks: items, and a body that gives the address of a result.
    fn everywhere(name: &'static str, items: &str, body: &str, ends: Ends) -> Self {
        let items = format!("{items} {MEMORY} (func $act (result i32) {body})");
        Self::over(name, &items, ["(call $act)"; 3], [ends; 3])
    }

    /// One that does something else in grant, before-call and after-call.
    fn by_hook(name: &'static str, items: &str, bodies: [&str; 3], ends: [Ends; 3]) -> Self {
        Self::over(name, &format!("{items} {MEMORY}"), bodies, ends)
    }

    /// One that brings its own memory.
    fn over(name: &'static str, items: &str, bodies: [&str; 3], ends: [Ends; 3]) -> Self {
        Self { name, bytes: kit::with_all_hooks(items, bodies), limits: |_| {}, ends }
    }

    /// One that passes once it has prepared itself, by a body of its own.
    fn prepared(name: &'static str, prepare: &str, ends: Ends) -> Self {
        let bytes = kit::with_preparation(MEMORY, prepare, [PASS; 3]);
        Self { bytes, ..Self::over(name, MEMORY, [PASS; 3], [ends; 3]) }
    }

    /// With more items of the component, outside of its module.
    fn and_items(self, items: &str) -> Self {
        Self { bytes: kit::with_items(&self.bytes, items), ..self }
    }

    fn limited(self, limits: fn(&mut SandboxLimits)) -> Self {
        Self { limits, ..self }
    }

    /// With a deadline that it is meant to miss.
    fn hasty(self) -> Self {
        self.limited(|limits| {
            limits.decision_deadline = Duration::from_millis(50);
            limits.report_deadline = Duration::from_millis(50);
        })
    }

    /// What comes of asking that hook.
    pub(super) fn ends(&self, hook: Hook) -> Ends {
        let [grant, before_call, after_call] = self.ends;
        match hook {
            Hook::Grant => grant,
            Hook::BeforeCall => before_call,
            Hook::AfterCall => after_call,
        }
    }

    pub(super) async fn load(&self) -> Arc<LoadedComponent> {
        host::load_bytes(self.bytes.clone()).await.unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// The text at 1024.
pub(super) fn text(text: &str) -> String {
    format!("(data (i32.const 1024) \"{text}\")")
}

/// Denies for the reason that lies there, both of them expressions.
pub(super) fn deny(at: &str, length: &str) -> String {
    decide(1, at, length)
}

/// Answers with the text that lies there.
pub(super) fn answer(at: &str, length: &str) -> String {
    decide(2, at, length)
}

fn decide(verdict: u8, at: &str, length: &str) -> String {
    format!(
        "(i32.store8 (i32.const 2052) (i32.const {verdict}))
         (i32.store (i32.const 2056) {at}) (i32.store (i32.const 2060) {length}) {PASS}"
    )
}

/// Returns the error that lies there.
pub(super) fn fail(at: &str, length: &str) -> String {
    format!(
        "(i32.store8 (i32.const 2048) (i32.const 1))
         (i32.store (i32.const 2052) {at}) (i32.store (i32.const 2056) {length}) {PASS}"
    )
}

/// Keeps the rows of these names, each an address and a length.
pub(super) fn narrow(names: &[(&str, &str)]) -> String {
    let mut body = String::new();
    for (position, (at, length)) in names.iter().enumerate() {
        let slot = 4096 + 8 * position;
        body += &format!("(i32.store (i32.const {slot}) {at}) (i32.store (i32.const {}) {length})", slot + 4);
    }
    let count = names.len();
    body + &decide(1, "(i32.const 4096)", &format!("(i32.const {count})"))
}

/// In each hook what hands the text that lies there to the host: as the name of a row, a reason, and an error.
fn telling(at: &str, length: &str) -> [String; 3] {
    [narrow(&[(at, length)]), deny(at, length), fail(at, length)]
}
