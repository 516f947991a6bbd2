//! Whatever listeners do, a call that was refused reaches no tool, and each call that was taken on is told of once.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use callgate_core::permissions::Permissions;
use callgate_core::registry::{Exposure, Reach, Row, Tool};
use callgate_core::state::MemoryState;
use callgate_core::testing::{self, caller};
use callgate_core::{Dispatcher, Outcome, StateStore};
use callgate_tests::host::{self, Component, kept};
use callgate_tests::tools::{Counting, numbered};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

const TOOLS: [&str; 3] = ["read", "write", "exec"];

/// Instances come from one pool of the process, so that all cases share a runtime as well.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().unwrap());

/// What one component does in its three hooks.
#[derive(Clone, Debug)]
struct Part {
    grant: Value,
    before: Value,
    after: Value,
}

fn failing() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => Just(json!("trap")),
        1 => Just(json!("loop")),
        1 => Just(json!({ "panic": "oops" })),
        1 => Just(json!({ "exit": 0 })),
        1 => Just(json!({ "error": "no database" })),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    let names = prop::collection::vec(prop::sample::select(&TOOLS[..]), 0..4);
    let patterns = prop::collection::vec(prop::sample::select(vec!["*", "r*", "?rite", "x"]), 0..3);
    let grant = prop_oneof![
        4 => Just(json!("pass")),
        3 => names.prop_map(|names| json!({ "narrow": names })),
        2 => patterns.prop_map(|patterns| json!({ "match": patterns })),
        1 => Just(json!("bounded")),
        1 => failing(),
    ];
    let before = prop_oneof![
        8 => Just(json!("pass")),
        1 => Just(json!({ "deny": "no" })),
        1 => Just(json!("empty-reason")),
        1 => Just(json!({ "huge": 2_000_000 })),
        1 => Just(json!({ "answer": { "content": [] } })),
        1 => Just(json!({ "answer": 7 })),
        1 => Just(json!("bad-json")),
        1 => failing(),
    ];
    let after = prop_oneof![4 => Just(json!("pass")), 1 => failing()];
    (grant, before, after).prop_map(|(grant, before, after)| Part { grant, before, after })
}

/// Whether the grant hook keeps the tool; none where it fails.
fn keeps(grant: &Value, tool: &str) -> Option<bool> {
    let holds = |key: &str, fits: &dyn Fn(&str) -> bool| {
        grant[key].as_array().map(|all| all.iter().any(|it| it.as_str().is_some_and(fits)))
    };
    let matches =
        |pattern: &str| tool != "exec" && matches!((pattern, tool), ("*", _) | ("r*", "read") | ("?rite", "write"));
    match grant.as_str() {
        Some("pass") => Some(true),
        Some("bounded") => Some(tool != "exec"),
        Some(_) => None,
        None => holds("narrow", &|name| name == tool).or_else(|| holds("match", &matches)),
    }
}

/// What the contract says of the call, computed from the script alone.
#[derive(Debug, PartialEq, Eq)]
struct Expected {
    runs: bool,
    told: bool,
}

fn expected(script: &[Part], tool: &str, permitted: bool) -> Expected {
    let kept: Vec<_> = script.iter().map(|part| keeps(&part.grant, tool)).collect();
    // A gate that failed has not decided, and is told of, whatever the name (G5).
    if kept.contains(&None) {
        return Expected { runs: false, told: true };
    }
    let granted = permitted && TOOLS.contains(&tool) && kept.iter().all(|kept| *kept == Some(true));
    Expected { runs: granted && script.iter().all(|part| part.before == json!("pass")), told: granted }
}

struct Rig {
    dispatcher: Dispatcher,
    counters: Vec<Arc<Counting>>,
    state: Arc<dyn StateStore>,
}

async fn rig(script: &[Part]) -> Rig {
    let state: Arc<dyn StateStore> = Arc::new(MemoryState::default());
    let mut permissions = Permissions::default();
    let (mut tools, mut counters): (Vec<Tool>, Vec<_>) = (Vec::new(), Vec::new());
    for name in TOOLS {
        permissions.permit("all", format!("test/{name}"), ["writer"]);
        let reach = if name == "exec" { Reach::Generic } else { Reach::Bounded };
        let row = Row { section: Some("all".into()), exposure: Exposure::Withheld, reach, ..testing::row(name) };
        let (tool, counter) = numbered(row);
        tools.push(tool);
        counters.push(counter);
    }
    let mut listeners = Vec::new();
    for part in script {
        let puppet = Component::named("puppet")
            .configured("grant", part.grant.clone())
            .configured("before-call", part.before.clone())
            .configured("after-call", part.after.clone());
        // Time is short only for what is never to end, so that a busy machine makes nothing else fail.
        let short = Duration::from_millis(400);
        let puppet = puppet.limited(|limits| {
            if [&part.grant, &part.before].contains(&&json!("loop")) {
                limits.decision_deadline = short;
            }
            if part.after == json!("loop") {
                limits.report_deadline = short;
            }
        });
        listeners.push(puppet.over(&state).await);
    }
    listeners.push(Component::named("audit-trail").over(&state).await);
    Rig { dispatcher: host::dispatcher(tools, permissions, listeners), counters, state }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn b3_b6_a1_no_refused_call_reaches_a_tool_and_every_call_is_told_of_once(
        script in prop::collection::vec(part(), 0..4),
        tool in prop::sample::select(vec!["read", "write", "exec", "absent"]),
        role in prop::sample::select(vec!["writer", "writer", "reader"]),
    ) {
        RUNTIME.block_on(async {
            let rig = rig(&script).await;
            let expected = expected(&script, tool, role == "writer");
            let outcome = rig.dispatcher.call(testing::request(Some(caller("ada", &[role])), tool, "{}")).await;
            let runs: u64 = rig.counters.iter().map(|counter| counter.runs()).sum();
            prop_assert_eq!(runs, u64::from(expected.runs), "{:?}", &outcome);
            prop_assert_eq!(matches!(outcome, Outcome::Executed(_)), expected.runs);
            let records = kept(&rig.state, "audit-trail", "record/").await.len() as u64;
            prop_assert_eq!(records, u64::from(expected.told), "{:?}", &outcome);
            prop_assert_eq!(rig.dispatcher.counters().calls, records);
            Ok(())
        })?;
    }
}
