//! The guests, each with the limit that it exceeds and what is seen of that.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use callgate_core::listener::Listener;
use callgate_core::report::{CallReport, Dispatch, Ending};
use callgate_core::state::MemoryState;
use callgate_core::testing::granted_call;
use callgate_core::{ListenerFailure, Verdict};
use callgate_kit::imports::{LOG, SLEEP, STATE, STDERR};
use callgate_kit::{self as kit, MEMORY};
use callgate_tests::host;
use callgate_tests::records::Records;
use callgate_wasm::{Capability, ListenerOptions, SandboxLimits, WasmListener};

use crate::hostile::guests::{PASS, deny, text};

/// A guest over a limit.
pub(super) struct Exceeds {
    /// The field of [`SandboxLimits`].
    pub(super) field: &'static str,
    /// A line of the listener's table: a key and a value that the guest exceeds. None where it can not be configured.
    pub(super) key: Option<(&'static str, u32)>,
    /// Sets the field to a value that the guest exceeds.
    pub(super) tighten: fn(&mut SandboxLimits),
    guest: Vec<u8>,
    look: Look,
    /// What is seen over the limit.
    pub(super) over: &'static str,
    /// What is seen with the default.
    pub(super) within: &'static str,
}

/// What is looked at.
#[derive(Clone, Copy)]
enum Look {
    /// What was decided before a call, or the kind of the failure.
    Before,
    /// The same after a call.
    After,
    /// What was decided before a call while an event after another call does not end.
    BeforeDuringAfter,
    /// How many lines it logged.
    Log,
    /// How much of its standard error the failure has.
    Stderr,
}

impl Exceeds {
    fn new(field: &'static str, tighten: fn(&mut SandboxLimits), guest: Vec<u8>, over: &'static str) -> Self {
        Self { field, key: None, tighten, guest, look: Look::Before, over, within: "proceed" }
    }

    fn key(self, key: &'static str, value: u32) -> Self {
        Self { key: Some((key, value)), ..self }
    }

    fn look(self, look: Look, within: &'static str) -> Self {
        Self { look, within, ..self }
    }
}

pub(super) fn all() -> Vec<Exceeds> {
    let (moment, hour) = (sleep(300_000_000), sleep(3_600_000_000_000));
    let row = Exceeds::new;
    vec![
        row("decision_deadline", |it| it.decision_deadline = SOON, guest(SLEEP, [PASS, &moment, PASS]), "deadline")
            .key("deadline-ms", 50),
        row("report_deadline", |it| it.report_deadline = SOON, guest(SLEEP, [PASS, PASS, &moment]), "deadline")
            .key("deadline-ms", 50)
            .look(Look::After, "proceed"),
        row("memory", |it| it.memory = 1 << 20, before("", &format!("{GROW} {PASS}")), "memory")
            .key("limits.memory-mib", 1),
        row("table_elements", |it| it.table_elements = 5_000, with_core("(table 10000 funcref)", 1), "tables"),
        row("instances", |it| it.instances = 8, with_core("", 8), "instances"),
        row("handles", |it| it.handles = 50, before(STDERR, &times(100, "(drop (call $stderr))", PASS)), "handles"),
        row(
            "hostcall_fuel",
            |it| it.hostcall_fuel = 1 << 20,
            before(LOG, &(GROW.to_owned() + &log(131_072, 1 << 21) + PASS)),
            "hostcall-fuel",
        )
        .key("limits.hostcall-fuel-mib", 1),
        row("payload", |it| it.payload = 1 << 10, before(&letters(1), &denies_oversize()), "deny")
            .key("limits.payload-kib", 1),
        row(
            "output",
            |it| it.output = 1 << 10,
            before("", &(FILL.to_owned() + &deny("(i32.const 8192)", "(i32.const 1025)"))),
            "output",
        )
        .key("limits.output-kib", 1)
        .look(Look::Before, "deny"),
        row(
            "stderr",
            |it| it.stderr = 1 << 10,
            before(&(STDERR.to_owned() + &letters(1_000)), &times(3, WRITE, "unreachable")),
            "1024 bytes",
        )
        .key("limits.stderr-kib", 1)
        .look(Look::Stderr, "3000 bytes"),
        row(
            "log",
            |it| it.log = 4_500,
            before(&(LOG.to_owned() + &letters(1_000)), &times(10, &log(1_024, 1_000), PASS)),
            "4 lines",
        )
        .look(Look::Log, "10 lines"),
        row(
            "state",
            |it| it.state = 100 << 10,
            before(&(STATE.to_owned() + &letters(1)), &times(2, SET, PASS)),
            "state",
        ),
        row("host_calls", |it| it.host_calls = 10, calling(STDERR, "(drop (call $stderr))"), "host-calls"),
        row("host_calls", |it| it.host_calls = 10, calling(LOG, &log(1_024, 1)), "host-calls"),
        row("concurrency", |it| it.concurrency = 1, guest(SLEEP, [PASS, PASS, &hour]), "overload")
            .key("limits.concurrency", 1)
            .look(Look::BeforeDuringAfter, "proceed"),
    ]
}

const SOON: Duration = Duration::from_millis(50);
const GROW: &str = "(if (i32.eq (memory.grow (i32.const 32)) (i32.const -1)) (then unreachable))";
const FILL: &str = "(memory.fill (i32.const 8192) (i32.const 120) (i32.const 1025))";
const WRITE: &str = "(call $write (call $stderr) (i32.const 1024) (i32.const 1000) (i32.const 64))";
const SET: &str = "(call $set (i32.const 1024) (i32.const 1) (i32.const 131072) (i32.const 65536)
    (i32.const 0) (i32.const 0) (i32.const 64))";

fn guest(items: &str, bodies: [&str; 3]) -> Vec<u8> {
    kit::with_all_hooks(&format!("{items} {MEMORY}"), bodies)
}

fn before(items: &str, body: &str) -> Vec<u8> {
    guest(items, [PASS, body, PASS])
}

/// Calls the host 20 times, and then works for longer than a tick of the clock.
fn calling(items: &str, call: &str) -> Vec<u8> {
    let work = "(local.set $left (i32.const 50000000))
        (loop $again (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))";
    before(items, &format!("(local $left i32) {} {work} {PASS}", call.repeat(20)))
}

/// One that passes, beside that many instances of a module with that item.
fn with_core(item: &str, count: usize) -> Vec<u8> {
    let instances = "(core instance (instantiate $one))".repeat(count);
    kit::with_items(&before("", PASS), &format!("(core module $one {item}) {instances}"))
}

fn letters(count: usize) -> String {
    text(&"x".repeat(count))
}

fn sleep(nanoseconds: u64) -> String {
    format!("(call $block (call $after (i64.const {nanoseconds}))) {PASS}")
}

fn log(at: usize, length: usize) -> String {
    format!("(call $log (i32.const 1) (i32.const {at}) (i32.const {length}))")
}

fn times(count: usize, act: &str, end: &str) -> String {
    format!("{} {end}", act.repeat(count))
}

/// Denies when the arguments did not reach it inline: their discriminant is at 80 of the call.
fn denies_oversize() -> String {
    let deny = deny("(i32.const 1024)", "(i32.const 1)");
    format!("(if (result i32) (i32.load8_u offset=80 (local.get $call)) (then {deny}) (else {PASS}))")
}

/// What is seen of the guest under these limits.
pub(super) async fn observe(row: &Exceeds, mut limits: SandboxLimits) -> String {
    if matches!(row.look, Look::BeforeDuringAfter) {
        // This is how long it waits for a place.
        limits.decision_deadline = Duration::from_secs(1);
    }
    let options = ListenerOptions {
        name: "guest".into(),
        limits,
        config: BTreeMap::new(),
        capabilities: [Capability::State].into(),
        state: Arc::new(MemoryState::default()),
        hooks: None,
    };
    let component = host::load_bytes(row.guest.clone()).await.unwrap();
    let guest = WasmListener::new(component, options).unwrap();
    let arguments = format!("{{\"text\":\"{}\"}}", "x".repeat(2_000));
    let call = granted_call("record", &arguments);
    let report = report();
    match row.look {
        Look::Before => decided(guest.before_call(&call).await),
        Look::After => {
            guest.after_call(&report).await.map_or_else(|failure| failure.kind().into(), |()| "proceed".into())
        }
        Look::BeforeDuringAfter => tokio::select! {
            biased;
            ended = guest.after_call(&report) => panic!("{ended:?}"),
            verdict = guest.before_call(&call) => decided(verdict),
        },
        Look::Log => {
            let records = Records::of_this_thread();
            assert_eq!(guest.before_call(&call).await, Ok(Verdict::Proceed));
            format!("{} lines", records.take(&"x".repeat(1_000)).len())
        }
        Look::Stderr => match guest.before_call(&call).await {
            Err(ListenerFailure::Trap { stderr, .. }) => format!("{} bytes", stderr.len()),
            other => panic!("{other:?}"),
        },
    }
}

fn decided(verdict: Result<Verdict, ListenerFailure>) -> String {
    match verdict {
        Ok(Verdict::Proceed) => "proceed".into(),
        Ok(Verdict::Deny(_)) => "deny".into(),
        Ok(Verdict::Answer(_)) => "answer".into(),
        Err(failure) => failure.kind().into(),
    }
}

fn report() -> CallReport {
    CallReport {
        call: granted_call("record", "{}").context().clone(),
        ending: Ending::Withdrawn,
        dispatch: Dispatch::None,
        reply: None,
        duration: Duration::ZERO,
        steps: Vec::new(),
    }
}
