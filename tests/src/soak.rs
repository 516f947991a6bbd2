//! The same things over and over, and how the memory of this process grows meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use callgate_core::listener::{Hooks, Listener};
use callgate_core::permissions::Permissions;
use callgate_core::registry::Tool;
use callgate_core::state::MemoryState;
use callgate_core::testing::{self, caller, granted_call};
use callgate_core::{Dispatcher, Outcome, StateStore, Verdict};
use callgate_wasm::{ListenerOptions, Sandbox, SandboxConfig, SandboxLimits, WasmListener};
use serde_json::{Value, json};

use crate::built::guest;
use crate::host::{self, AMPLE, Component};
use crate::tools::{counting, text};
use crate::usage::resident;

/// Calls at the same time.
const TASKS: u64 = 8;

/// Resident memory after each of some equal steps.
#[derive(Clone, Debug, Default)]
pub struct Growth(Vec<u64>);

impl Growth {
    /// Another step is over. Returns the memory that is resident now, in MiB.
    pub fn step(&mut self) -> f64 {
        let bytes = resident();
        self.0.push(bytes);
        mebibytes(bytes as f64)
    }

    /// How much memory a step takes for good, in MiB: the slope of the line that fits best. Single steps are noise: what an
    /// allocator keeps comes and goes.
    pub fn per_step(&self) -> f64 {
        let count = self.0.len() as f64;
        let mean = |values: &[f64]| values.iter().sum::<f64>() / count;
        let (steps, bytes): (Vec<_>, Vec<_>) = self.0.iter().enumerate().map(|(n, it)| (n as f64, *it as f64)).unzip();
        let (middle, level) = (mean(&steps), mean(&bytes));
        let rise: f64 = steps.iter().zip(&bytes).map(|(step, bytes)| (step - middle) * (bytes - level)).sum();
        mebibytes(rise / steps.iter().map(|step| (step - middle).powi(2)).sum::<f64>())
    }
}

fn mebibytes(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}

/// A host whose calls end in many ways: each tool is named for what a listener does about it.
pub async fn many_endings() -> Dispatcher {
    let state: Arc<dyn StateStore> = Arc::new(MemoryState::default());
    let acts = [
        ("before-call", "deny", json!({ "deny": "no" })),
        ("before-call", "trap", json!("trap")),
        ("before-call", "panic", json!({ "panic": "on purpose" })),
        ("before-call", "huge", json!({ "huge": 2 << 20 })),
        ("before-call", "loop", json!("loop")),
        ("after-call", "trap-after", json!("trap")),
    ];
    let mut listeners = vec![puppet("grant", "grant", json!({ "match": ["*"] }), None).over(&state).await];
    for (hook, tool, act) in &acts {
        listeners.push(puppet(tool, hook, act.clone(), Some(tool)).over(&state).await);
    }
    let names = acts.iter().map(|(_, tool, _)| *tool).chain(["pass"]);
    let tools: Vec<Tool> = names.map(|name| counting(testing::row(name), |_| async { text("ran") }).0).collect();
    host::dispatcher(tools, Permissions::default(), listeners)
}

fn puppet(name: &str, hook: &str, act: Value, tool: Option<&str>) -> Component {
    let component = Component::at(name, guest("puppet")).configured(hook, act).limited(|limits| {
        // What never ends is ended soon; the others have the time that a busy machine takes.
        limits.decision_deadline = if tool == Some("loop") { Duration::from_millis(20) } else { AMPLE };
    });
    match tool {
        Some(tool) => component.configured("tools", json!([tool])),
        None => component,
    }
}

/// Makes so many calls, over eight tasks, and returns how many tools ran. Of a thousand, 700 calls end well and the others in
/// other ways; the listener of one never ends by itself.
pub async fn call(dispatcher: &Dispatcher, calls: u64) -> u64 {
    let tasks = (0..TASKS).map(|task| {
        let dispatcher = dispatcher.clone();
        tokio::spawn(async move {
            let ada = caller("ada", &["writer"]);
            let mut ran = 0;
            for number in (task..calls).step_by(TASKS as usize) {
                let request = testing::request(Some(ada.clone()), tool(number), r#"{"path":"/srv"}"#);
                ran += u64::from(matches!(dispatcher.call(request).await, Outcome::Executed(_)));
            }
            ran
        })
    });
    let mut ran = 0;
    for task in tasks.collect::<Vec<_>>() {
        ran += task.await.expect("a call does not panic");
    }
    ran
}

fn tool(number: u64) -> &'static str {
    // A prime that makes neighbours differ.
    match number * 7_919 % 1_000 {
        0 => "loop",
        spread @ 1..300 => ["deny", "trap", "panic", "huge", "trap-after"][(spread % 5) as usize],
        _ => "pass",
    }
}

/// A sandbox of its own, and a component for it.
#[derive(Debug)]
pub struct Loads {
    sandbox: Sandbox,
    component: Vec<u8>,
}

impl Default for Loads {
    fn default() -> Self {
        let component = std::fs::read(guest("policy")).expect("the component can be read");
        Self { sandbox: Sandbox::new(SandboxConfig::default()).expect("the sandbox starts"), component }
    }
}

impl Loads {
    /// Loads a component, asks it once and drops it: every other time one that was never there before.
    pub async fn cycle(&self, number: u32) {
        let bytes = if number.is_multiple_of(2) { self.component.clone() } else { self.distinct(number) };
        let component = self.sandbox.load_bytes(bytes, None).await.expect("it loads");
        let limits = SandboxLimits { decision_deadline: AMPLE, ..SandboxLimits::default() };
        let options = ListenerOptions {
            name: "policy".into(),
            limits,
            config: BTreeMap::new(),
            capabilities: BTreeSet::new(),
            http: None,
            folders: Vec::new(),
            state: Arc::new(MemoryState::default()),
            hooks: Some(Hooks { before_call: true, ..Hooks::default() }),
        };
        let listener = WasmListener::new(component, options).expect("the options fit");
        let verdict = listener.before_call(&granted_call("read", "{}")).await;
        assert_eq!(verdict, Ok(Verdict::Proceed));
    }

    /// The component with a custom section at its end, which says nothing but makes it another one.
    fn distinct(&self, number: u32) -> Vec<u8> {
        const CUSTOM: u8 = 0;
        let number = number.to_le_bytes();
        let mut bytes = self.component.clone();
        bytes.extend([CUSTOM, 2 + number.len() as u8, 1, b'n']);
        bytes.extend(number);
        bytes
    }
}
