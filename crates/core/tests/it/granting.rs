//! G: what is shown and what is allowed are one decision.

use std::sync::Arc;
use std::time::Duration;

use callgate_core::grant::{GrantAnswer, Narrowing};
use callgate_core::json::{Entry, Json};
use callgate_core::permissions::Permissions;
use callgate_core::registry::{Reach, Row, Tool};
use callgate_core::report::{Dispatch, Ending, FailureKind, Said};
use callgate_core::testing::{self, Recorder, Scripted, subscription};
use callgate_core::{Outcome, Refusal, ToolRegistry};

use crate::support::{Host, Log, ada, ada_but, audit, failure, governed, listed, recorded};

fn narrowing(narrowing: Narrowing) -> Arc<Scripted> {
    let answer = GrantAnswer::Narrow(narrowing);
    Arc::new(Scripted::default().on_grant(move |_| Ok(answer.clone())).on_after_call(|_| Ok(())))
}

fn named(names: &[&str]) -> Narrowing {
    Narrowing::to_nothing().and_named(names.iter().copied())
}

fn unknown(name: &str) -> Outcome {
    Outcome::Refused(Refusal::UnknownTool(name.into()))
}

fn three_tools() -> Vec<Tool> {
    vec![testing::tool("read"), testing::tool("stat"), testing::tool("write")]
}

async fn callable(dispatcher: &callgate_core::Dispatcher) -> Vec<String> {
    let mut names = Vec::new();
    for name in ["read", "stat", "write"] {
        if let Outcome::Executed(_) = dispatcher.call(testing::request(ada(), name, "{}")).await {
            names.push(name.to_owned());
        }
    }
    names
}

#[tokio::test]
async fn g1_what_is_listed_is_what_can_be_called() {
    let cases = [
        (vec![], vec!["read", "stat", "write"]),
        (vec![named(&["read", "write"])], vec!["read", "write"]),
        (vec![named(&["read", "write"]), Narrowing::to_nothing().and_matching(["*a*"])], vec!["read"]),
        (vec![named(&["read"]), named(&["write"])], vec![]),
    ];
    for (narrowings, expected) in cases {
        let listeners = narrowings.into_iter().map(|it| subscription("gate", narrowing(it))).collect();
        let dispatcher = testing::dispatcher(three_tools(), listeners);
        assert_eq!(listed(&dispatcher, ada()).await, expected);
        assert_eq!(callable(&dispatcher).await, expected);
    }
}

#[tokio::test]
async fn g1_the_decision_costs_one_registry_read() {
    let host = Host::new([]);
    let rules = host.dispatcher.rules();
    host.listed().await;
    assert_eq!(rules.reads(), 1);
    host.call_tool("absent").await;
    assert_eq!(rules.reads(), 2);
    // The second read of an executed call is the last line of defence (G8).
    host.call().await;
    assert_eq!(rules.reads(), 4);
}

#[tokio::test]
async fn g2_roles_decide_where_nobody_overrides() {
    let mut permissions = Permissions::default();
    permissions.permit("files", "test/write", ["writer"]);
    permissions.permit("files", "test/read", ["reader"]);
    let in_files = |name: &str| {
        let row = Row { section: Some("files".into()), ..testing::row(name) };
        Tool::new(row, Json::empty_object(), Arc::new(Recorder::default()))
    };
    let dispatcher = governed(vec![in_files("read"), in_files("stat"), in_files("write")], permissions, vec![]);
    assert_eq!(listed(&dispatcher, ada()).await, ["stat", "write"]);
    assert_eq!(callable(&dispatcher).await, ["stat", "write"]);
    assert_eq!(listed(&dispatcher, Some(testing::caller("bob", &["reader"]))).await, ["read", "stat"]);
}

#[tokio::test]
async fn g3_an_override_narrows_and_adds_nothing() {
    let (log, _capturing) = Log::capture();
    let mut permissions = Permissions::default();
    permissions.permit("files", "test/write", ["admin"]);
    let gate = narrowing(named(&["read", "write", "absent"]));
    let dispatcher = governed(three_tools(), permissions, vec![subscription("gate", gate.clone())]);
    for _ in 0..2 {
        assert_eq!(listed(&dispatcher, ada()).await, ["read"]);
        assert_eq!(callable(&dispatcher).await, ["read"]);
    }
    assert_eq!(dispatcher.call(testing::request(ada(), "absent", "{}")).await, unknown("absent"));
    assert_eq!(gate.asked(), 9, "the listener is asked also about names that are withheld or absent");
    let warnings = log.lines("an override names a tool");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains("listener=\"gate\" tool=\"write\""), "{warnings:?}");
}

#[tokio::test]
async fn g4_hidden_and_absent_are_one_answer() {
    let gate = narrowing(named(&["read"]));
    let (tool, recorder) = recorded("write");
    let dispatcher = testing::dispatcher(vec![testing::tool("read"), tool], vec![subscription("gate", gate.clone())]);
    let ask = |name: &'static str| dispatcher.call(testing::request(ada(), name, "{}"));

    let hidden = ask("write").await;
    let after_hidden = (gate.asked(), gate.before().len(), gate.reports().len());
    let absent = ask("wrote").await;
    let after_absent = (gate.asked() - after_hidden.0, gate.before().len(), gate.reports().len());
    assert_eq!((hidden, absent), (unknown("write"), unknown("wrote")));
    assert_eq!((after_hidden, after_absent), ((1, 0, 0), (1, 0, 0)), "the same hooks ran");
    assert_eq!((recorder.calls(), dispatcher.counters().calls), (0, 0));
}

#[tokio::test]
async fn g5_a_gate_that_fails_refuses_the_call_and_is_recorded_once() {
    let (log, _capturing) = Log::capture();
    for name in ["write", "absent"] {
        let failing = Arc::new(Scripted::default().on_grant(|_| Err(failure())).on_before_call(|_| panic!()));
        let audit = audit();
        let host = Host::new([failing.clone(), audit.clone()]);
        assert_eq!(host.call_tool(name).await, Outcome::Refused(Refusal::AccessNotVerified));
        assert_eq!((host.tool.calls(), failing.before().len()), (0, 0));

        let reports = audit.reports();
        assert_eq!(reports.len(), 1);
        let Ending::Failed(failed) = &reports[0].ending else { panic!("{:?}", reports[0].ending) };
        assert_eq!((failed.kind, failed.listener.as_deref()), (FailureKind::Gate, Some("first")));
        assert_eq!(failed.detail, "returned an error: no database");
        assert_eq!((reports[0].dispatch, &reports[0].reply), (Dispatch::None, &None));
        assert_eq!(reports[0].call.row.is_some(), name == "write");
        assert_eq!(reports[0].steps[0].said, Said::Failed);
        assert_eq!(host.dispatcher.counters().calls, 1);
    }
    let logged = log.lines("a listener failed");
    assert_eq!(logged.len(), 2);
    assert!(logged[0].contains("listener=\"first\"") && logged[0].contains("no database"), "{logged:?}");
}

#[tokio::test]
async fn g6_a_gate_that_fails_degrades_a_listing_to_the_base_decision_and_never_to_more() {
    let mut permissions = Permissions::default();
    permissions.permit("files", "test/write", ["admin"]);
    let failing = || subscription("failing", Arc::new(Scripted::default().on_grant(|_| Err(failure()))));
    let dispatcher = governed(three_tools(), permissions.clone(), vec![failing()]);
    assert_eq!(listed(&dispatcher, ada()).await, ["read", "stat"]);
    let reading = dispatcher.list(ada()).await.reading;
    assert_eq!(reading, callgate_core::dispatcher::Reading::Degraded);
    assert_eq!(dispatcher.counters().degraded_listings, 2);
    assert_eq!(dispatcher.rules().current().listeners[0].failures(), 2);

    // An override that did answer still narrows, whichever of the two was asked first.
    let answering = || subscription("answering", narrowing(named(&["stat", "write"])));
    for listeners in [vec![failing(), answering()], vec![answering(), failing()]] {
        let dispatcher = governed(three_tools(), permissions.clone(), listeners);
        assert_eq!(listed(&dispatcher, ada()).await, ["stat"]);
    }
}

#[tokio::test]
async fn g7_with_nobody_signed_in_nothing_exists_and_no_hook_runs() {
    let listener =
        Arc::new(Scripted::default().on_grant(|_| panic!()).on_before_call(|_| panic!()).on_after_call(|_| panic!()));
    let host = Host::new([listener.clone()]);
    assert_eq!(listed(&host.dispatcher, None).await, Vec::<String>::new());
    for name in ["write", "absent"] {
        assert_eq!(host.dispatcher.call(testing::request(None, name, "{}")).await, unknown(name));
    }
    assert_eq!((listener.asked(), listener.reports().len(), host.tool.calls()), (0, 0, 0));
    assert_eq!(host.dispatcher.rules().reads(), 0);
}

#[tokio::test]
async fn g9_a_generic_row_is_decided_explicitly_or_not_at_all() {
    let generic = |method: &str| {
        let row = Row {
            reach: Reach::Generic,
            section: Some("web".into()),
            rpc_method: method.into(),
            ..testing::row("read")
        };
        Tool::new(row, Json::empty_object(), Arc::new(Recorder::default()))
    };
    let mut permissions = Permissions::default();
    permissions.permit("web", "web/permitted", ["writer"]);
    for (method, gate, visible) in [
        ("web/other", None, false),
        ("web/permitted", None, true),
        ("web/permitted", Some(Narrowing::to_nothing().and_matching(["*"])), false),
        ("web/permitted", Some(named(&["read"])), true),
        ("web/other", Some(named(&["read"])), false),
    ] {
        let listeners = gate.clone().map(|it| subscription("gate", narrowing(it))).into_iter().collect();
        let dispatcher = governed(vec![generic(method)], permissions.clone(), listeners);
        assert_eq!(listed(&dispatcher, ada()).await.len(), usize::from(visible), "{method} {gate:?}");
        assert_eq!(callable(&dispatcher).await.len(), usize::from(visible), "{method} {gate:?}");
    }
}

#[tokio::test]
async fn g10_a_decision_is_used_again_only_for_an_equal_caller_of_the_same_generation() {
    let gate = narrowing(named(&["write"]).reusable_for(Duration::from_secs(60)));
    let host = Host::new([gate.clone()]);
    host.call().await;
    host.listed().await;
    host.call().await;
    assert_eq!((gate.asked(), host.tool.calls()), (1, 2), "a listing and a call share it");

    let claim = Entry { key: "email".into(), value: Json::string("ada@example.org") };
    let others = [
        ada_but(|it| it.subject = "eve".into()),
        ada_but(|it| it.issuer = Some("https://issuer".into())),
        ada_but(|it| it.auth_method = "jwt".into()),
        ada_but(|it| it.roles.push("reader".into())),
        ada_but(|it| it.tenant = Some("acme".into())),
        ada_but(|it| it.claims.push(claim.clone())),
        ada_but(|it| it.attributes.push(claim)),
    ];
    for (asked, other) in (2..).zip(others) {
        listed(&host.dispatcher, other).await;
        assert_eq!(gate.asked(), asked);
    }
    host.dispatcher.rules().replace_registry(ToolRegistry::default());
    host.listed().await;
    assert_eq!(gate.asked(), 9, "another generation is asked anew");
}

#[tokio::test]
async fn g10_a_decision_is_asked_anew_when_its_time_is_over_or_it_allows_no_reuse() {
    let gate = narrowing(named(&["write"]).reusable_for(Duration::from_nanos(1)));
    let never = narrowing(named(&["write"]));
    let abstaining = Arc::new(Scripted::default().on_grant(|_| Ok(GrantAnswer::Abstain)));
    let huge = narrowing(named(&["write", &"x".repeat(65_536)]).reusable_for(Duration::from_secs(60)));
    let host = Host::new([gate.clone(), never.clone(), abstaining.clone(), huge.clone()]);
    for _ in 0..3 {
        host.listed().await;
    }
    assert_eq!([gate.asked(), never.asked(), abstaining.asked(), huge.asked()], [3; 4]);
}

#[tokio::test]
async fn g10_the_hook_is_given_the_same_for_a_listing_and_for_a_call() {
    let seen: Arc<std::sync::Mutex<Vec<String>>> = Arc::default();
    let seen_by_hook = seen.clone();
    let gate = Arc::new(Scripted::default().on_grant(move |query| {
        seen_by_hook.lock().unwrap().push(format!("{query:?}"));
        Ok(GrantAnswer::Abstain)
    }));
    let host = Host::new([gate]);
    host.listed().await;
    host.call().await;
    host.call_tool("absent").await;
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 3);
    // The rows count their runs, which the call in between changes; everything that a listener can read is equal.
    let inputs: Vec<_> = seen.iter().map(|query| query.replace("calls: 1", "calls: 0").replace("[{}]", "[]")).collect();
    assert!(inputs.iter().all(|query| query == &inputs[0]), "{inputs:?}");
}
