//! Whatever the listeners do, a call that the gate or a before-call listener refused reaches no tool (B3, B6, G3 to G5), and
//! every call that was accepted or could not be decided has one after-call event (A1).

use std::sync::Arc;
use std::time::Duration;

use callgate_core::grant::{GrantAnswer, Narrowing};
use callgate_core::listener::{Hooks, NotLoaded};
use callgate_core::permissions::Permissions;
use callgate_core::registry::{Exposure, Reach, Row, Tool};
use callgate_core::subscription::Delivery;
use callgate_core::testing::{self, Recorder, Scripted};
use callgate_core::{
    Dispatcher, Json, Listener, ListenerFailure, Outcome, RuleSet, Rules, Subscription, ToolRegistry, Verdict,
};
use proptest::prelude::*;

use crate::support::{audit, denial, failure};

const TOOLS: [&str; 3] = ["read", "write", "exec"];

#[derive(Clone, Debug)]
enum Granting {
    Absent,
    Abstains,
    Narrows(Vec<String>, Vec<String>),
    Fails,
    Panics,
}

#[derive(Clone, Debug)]
enum Deciding {
    Absent,
    Proceeds,
    Denies,
    DeniesEmptily,
    Answers(&'static str),
    Fails,
    Panics,
    NeverReturns,
    NotLoaded,
}

#[derive(Debug)]
struct NeverReturns;

#[async_trait::async_trait]
impl Listener for NeverReturns {
    fn hooks(&self) -> Hooks {
        Hooks { before_call: true, ..Hooks::default() }
    }

    async fn before_call(&self, _: &callgate_core::GrantedCall) -> Result<Verdict, ListenerFailure> {
        std::future::pending().await
    }
}

fn listener(granting: Granting, deciding: Deciding) -> Arc<dyn Listener> {
    let hooks = Hooks { before_call: true, ..Hooks::default() };
    let scripted = match granting {
        Granting::Absent => Scripted::default(),
        Granting::Abstains => Scripted::default().on_grant(|_| Ok(GrantAnswer::Abstain)),
        Granting::Narrows(names, patterns) => Scripted::default().on_grant(move |_| {
            Ok(GrantAnswer::Narrow(Narrowing::to_nothing().and_named(names.clone()).and_matching(&patterns)))
        }),
        Granting::Fails => Scripted::default().on_grant(|_| Err(failure())),
        Granting::Panics => Scripted::default().on_grant(|_| panic!("gate")),
    };
    Arc::new(match deciding {
        Deciding::Absent => scripted,
        Deciding::Proceeds => scripted.on_before_call(|_| Ok(Verdict::Proceed)),
        Deciding::Denies => scripted.on_before_call(|_| Ok(denial("no"))),
        Deciding::DeniesEmptily => scripted.on_before_call(|_| {
            callgate_core::verdict::Denial::new("").map(Verdict::Deny).map_err(ListenerFailure::InvalidDecision)
        }),
        Deciding::Answers(text) => scripted.on_before_call(move |_| Ok(Verdict::Answer(Json::parse(text).unwrap()))),
        Deciding::Fails => scripted.on_before_call(|_| Err(failure())),
        Deciding::Panics => scripted.on_before_call(|_| panic!("listener")),
        Deciding::NeverReturns => return Arc::new(NeverReturns),
        Deciding::NotLoaded => return Arc::new(NotLoaded::new(hooks, "no such file")),
    })
}

fn granting() -> impl Strategy<Value = Granting> {
    let names = prop::collection::vec(prop::sample::select(&TOOLS[..]).prop_map(str::to_owned), 0..3);
    let patterns =
        prop::collection::vec(prop::sample::select(vec!["*", "r*", "?rite", "x"]).prop_map(str::to_owned), 0..2);
    prop_oneof![
        3 => Just(Granting::Absent),
        2 => Just(Granting::Abstains),
        4 => (names, patterns).prop_map(|(names, patterns)| Granting::Narrows(names, patterns)),
        1 => Just(Granting::Fails),
        1 => Just(Granting::Panics),
    ]
}

fn deciding() -> impl Strategy<Value = Deciding> {
    prop_oneof![
        4 => Just(Deciding::Absent),
        6 => Just(Deciding::Proceeds),
        1 => Just(Deciding::Denies),
        1 => Just(Deciding::DeniesEmptily),
        1 => prop::sample::select(vec![r#"{"content":[]}"#, "7"]).prop_map(Deciding::Answers),
        1 => Just(Deciding::Fails),
        1 => Just(Deciding::Panics),
        1 => Just(Deciding::NeverReturns),
        1 => Just(Deciding::NotLoaded),
    ]
}

/// What the contract says about the call, computed from the script alone and not by the code under test.
fn must_run(script: &[(Granting, Deciding)], tool: &str, permitted: bool) -> bool {
    let patterns_keep = |patterns: &[String]| {
        tool != "exec"
            && patterns
                .iter()
                .any(|it| it == "*" || (it == "r*" && tool == "read") || (it == "?rite" && tool == "write"))
    };
    let asked = |deciding: &Deciding| !matches!(deciding, Deciding::NeverReturns | Deciding::NotLoaded);
    permitted
        && TOOLS.contains(&tool)
        && script.iter().all(|(granting, deciding)| {
            let granted = match granting {
                _ if !asked(deciding) => true,
                Granting::Absent | Granting::Abstains => true,
                Granting::Narrows(names, patterns) => names.iter().any(|it| it == tool) || patterns_keep(patterns),
                Granting::Fails | Granting::Panics => false,
            };
            granted && matches!(deciding, Deciding::Absent | Deciding::Proceeds)
        })
}

fn dispatcher(script: &[(Granting, Deciding)], recorder: &Arc<Recorder>, audit: Arc<Scripted>) -> Dispatcher {
    let tools = TOOLS.map(|name| {
        let reach = if name == "exec" { Reach::Generic } else { Reach::Bounded };
        let row = Row { section: Some("all".into()), exposure: Exposure::Withheld, reach, ..testing::row(name) };
        Tool::new(row, Json::empty_object(), recorder.clone())
    });
    let mut permissions = Permissions::default();
    for name in TOOLS {
        permissions.permit("all", format!("test/{name}"), ["writer"]);
    }
    let mut listeners: Vec<_> = (0..)
        .zip(script)
        .map(|(number, (granting, deciding))| {
            let listener = listener(granting.clone(), deciding.clone());
            let deadline = Duration::from_millis(50);
            Subscription::new(format!("listener-{number}"), listener, deadline, Delivery::BeforeReply)
        })
        .collect();
    listeners.push(testing::subscription("audit", audit));
    let rules = RuleSet::new(ToolRegistry::new(tools).unwrap(), permissions, listeners);
    Dispatcher::new(Arc::new(Rules::new(rules)), Duration::from_secs(30))
}

proptest! {
    #[test]
    fn b3_b6_no_refused_call_reaches_the_tool_whatever_the_listeners_do(
        script in prop::collection::vec((granting(), deciding()), 0..4),
        tool in prop::sample::select(vec!["read", "write", "exec", "absent"]),
        role in prop::sample::select(vec!["writer", "reader"]),
    ) {
        // Time stands still until everybody waits, so a listener that never returns costs nothing here.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (recorder, audit) = (Arc::new(Recorder::default()), audit());
            let dispatcher = dispatcher(&script, &recorder, audit.clone());
            let caller = testing::caller("ada", &[role]);

            let outcome = dispatcher.call(testing::request(Some(caller.clone()), tool, "{}")).await;
            let runs = must_run(&script, tool, role == "writer");
            prop_assert_eq!(recorder.calls(), u64::from(runs), "{:?}", outcome);
            prop_assert_eq!(matches!(outcome, Outcome::Executed(_)), runs);
            prop_assert_eq!(audit.reports().len() as u64, dispatcher.counters().calls);

            // What may run is listed; what is listed beyond that was refused by a before-call listener or a failed gate.
            let listed = dispatcher.list(Some(caller)).await;
            let shown = listed.tools.iter().any(|it| it.row.identifier == tool);
            prop_assert!(shown || !runs);
            prop_assert!(role == "writer" || !shown);
            Ok(())
        })?;
    }
}
