//! Listeners in JavaScript and Python load like any other and answer in all three hooks, the same in both.

use callgate_core::permissions::Permissions;
use callgate_core::registry::Tool;
use callgate_core::testing::{self, caller};
use callgate_core::{Dispatcher, Listener, Outcome, Refusal, Verdict};
use callgate_tests::built::guest_in;
use callgate_tests::host::{self, Component};
use callgate_tests::tools::numbered;
use serde_json::json;

async fn in_language(language: &str) -> (Dispatcher, std::sync::Arc<dyn callgate_core::StateStore>) {
    let state: std::sync::Arc<dyn callgate_core::StateStore> =
        std::sync::Arc::new(callgate_core::state::MemoryState::default());
    let component =
        Component::at("guest", guest_in(language, "listener")).configured("reader", json!(["read_*", "clock"]));
    let tools: Vec<Tool> =
        ["read_file", "write_file", "clock"].map(|name| numbered(testing::row(name)).0).into_iter().collect();
    (host::dispatcher(tools, Permissions::default(), vec![component.over(&state).await]), state)
}

async fn all_three_hooks_answer(language: &str) {
    let (dispatcher, state) = in_language(language).await;
    let (reader, writer) = (caller("ada", &["reader"]), caller("bob", &["writer"]));
    for (caller, expected) in [(&reader, &["clock", "read_file"][..]), (&writer, &["clock", "read_file", "write_file"])]
    {
        let listing = dispatcher.list(Some(caller.clone())).await;
        let names: Vec<_> = listing.tools.iter().map(|tool| tool.row.identifier.as_str()).collect();
        assert_eq!(names, expected, "{language}");
    }
    let hidden = dispatcher.call(testing::request(Some(reader.clone()), "write_file", "{}")).await;
    assert_eq!(hidden, Outcome::Refused(Refusal::UnknownTool("write_file".into())));

    let ran = dispatcher.call(testing::request(Some(writer.clone()), "write_file", r#"{"n": 1.0}"#)).await;
    assert!(matches!(ran, Outcome::Executed(_)), "{language}: {ran:?}");
    let denied = dispatcher.call(testing::request(Some(reader), "clock", r#"{"refuse":"nicht heute – ✋"}"#)).await;
    let Outcome::Denied(result) = denied else { panic!("{language}: {denied:?}") };
    assert!(result.as_str().contains("nicht heute – ✋"));

    // Two calls reached the hook after calls; the hidden one did not.
    assert_eq!(state.get("guest", "calls").await.unwrap().as_deref(), Some("2"));
}

#[tokio::test]
async fn g3_b2_a1_a_javascript_listener_answers_in_all_three_hooks() {
    all_three_hooks_answer("js").await;
}

#[tokio::test]
async fn g3_b2_a1_a_python_listener_answers_in_all_three_hooks() {
    all_three_hooks_answer("py").await;
}

/// What a runtime does by itself needs nothing: it starts, decides and fails in its own words.
async fn a_runtime_needs_no_grant(language: &str) {
    let state: std::sync::Arc<dyn callgate_core::StateStore> =
        std::sync::Arc::new(callgate_core::state::MemoryState::default());
    let component = Component::at("guest", guest_in(language, "listener")).granted([]);
    let listener = component.configured("reader", json!(["read_*", "clock"])).listener(&state).await;
    let verdict = listener.before_call(&testing::granted_call("clock", r#"{"refuse":"no"}"#)).await;
    assert!(matches!(&verdict, Ok(Verdict::Deny(denial)) if denial.reason() == "no"), "{language}: {verdict:?}");
}

#[tokio::test]
async fn a_javascript_runtime_needs_no_grant() {
    a_runtime_needs_no_grant("js").await;
}

#[tokio::test]
async fn a_python_runtime_needs_no_grant() {
    a_runtime_needs_no_grant("py").await;
}
