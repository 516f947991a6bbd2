use std::sync::Arc;

use callgate_core::permissions::Permissions;
use callgate_core::registry::{Reach, Row, Tool};
use callgate_core::testing::{self, caller};
use callgate_core::{Caller, Dispatcher, Outcome, Refusal};
use callgate_tests::host::{self, Component};
use callgate_tests::tools::numbered;
use serde_json::json;

use super::{executed, memory};

fn tools() -> Vec<Tool> {
    let fetch = Row { reach: Reach::Generic, section: Some("net".into()), ..testing::row("http__fetch") };
    let rows = [testing::row("files__read_text"), testing::row("files__write"), testing::row("clock"), fetch];
    rows.into_iter().map(|row| numbered(row).0).collect()
}

/// Roles may use the generic tool as far as the host's own permissions go.
fn permissions() -> Permissions {
    let mut permissions = Permissions::default();
    permissions.permit("net", "test/http__fetch", ["writer", "operator"]);
    permissions
}

async fn moded(component: Component) -> Dispatcher {
    host::dispatcher(tools(), permissions(), vec![component.over(&memory()).await])
}

fn mode() -> Component {
    Component::named("agent-mode")
        .configured("roles", json!({ "reader": ["files__read_*", "clock"], "writer": ["*"] }))
        .configured("generic", json!({ "operator": ["http__fetch"] }))
}

async fn listed(dispatcher: &Dispatcher, caller: &Arc<Caller>) -> Vec<String> {
    let listing = dispatcher.list(Some(caller.clone())).await;
    listing.tools.iter().map(|tool| tool.row.identifier.clone()).collect()
}

#[tokio::test]
async fn g3_each_role_sees_and_calls_its_own_tools() {
    let dispatcher = moded(mode()).await;
    let reader = caller("ada", &["reader"]);
    assert_eq!(listed(&dispatcher, &reader).await, ["clock", "files__read_text"]);
    for name in ["clock", "files__read_text"] {
        executed(&dispatcher.call(testing::request(Some(reader.clone()), name, "{}")).await);
    }
    let both = caller("bob", &["reader", "operator"]);
    assert_eq!(listed(&dispatcher, &both).await, ["clock", "files__read_text", "http__fetch"]);
    assert_eq!(listed(&dispatcher, &caller("eve", &["stranger"])).await, [""; 0]);
}

#[tokio::test]
async fn g4_what_a_mode_hides_is_answered_like_what_is_not_there() {
    let dispatcher = moded(mode()).await;
    let reader = caller("ada", &["reader"]);
    for name in ["files__write", "http__fetch", "no_such_tool"] {
        let outcome = dispatcher.call(testing::request(Some(reader.clone()), name, "{}")).await;
        assert_eq!(outcome, Outcome::Refused(Refusal::UnknownTool(name.into())));
    }
    assert_eq!(dispatcher.counters().calls, 0);
}

#[tokio::test]
async fn g9_a_pattern_never_takes_in_a_generic_tool() {
    let dispatcher = moded(mode()).await;
    // The permissions would let the writer have it, and `*` fits its name.
    let writer = caller("ada", &["writer"]);
    assert_eq!(listed(&dispatcher, &writer).await, ["clock", "files__read_text", "files__write"]);
    let operator = caller("ada", &["operator"]);
    assert_eq!(listed(&dispatcher, &operator).await, ["http__fetch"]);
    executed(&dispatcher.call(testing::request(Some(operator), "http__fetch", "{}")).await);
}

#[tokio::test]
async fn g5_g6_a_mode_without_its_roles_refuses_calls_and_degrades_listings() {
    let dispatcher = moded(Component::named("agent-mode")).await;
    let writer = caller("ada", &["writer"]);
    for name in ["clock", "no_such_tool"] {
        let outcome = dispatcher.call(testing::request(Some(writer.clone()), name, "{}")).await;
        assert_eq!(outcome, Outcome::Refused(Refusal::AccessNotVerified));
    }
    assert_eq!(listed(&dispatcher, &writer).await.len(), 4);
    assert_eq!((dispatcher.counters().calls, dispatcher.counters().degraded_listings), (2, 1));
}
