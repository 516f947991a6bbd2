//! A whole governed call in process, to a tool that does nothing.

use std::sync::Arc;

use callgate_core::listener::Hooks;
use callgate_core::registry::Tool;
use callgate_core::testing::{Recorder, caller, dispatcher, request, row, subscription};
use callgate_core::tool::ToolProvider;
use callgate_core::{Dispatcher, Json, Outcome, Subscription};
use callgate_wasm::{Sandbox, SandboxConfig};

use crate::measure::Table;
use crate::one_event::puppet;

pub(crate) async fn measure(table: &mut Table) {
    let sandbox = Sandbox::new(SandboxConfig::default()).expect("the sandbox starts");
    let mut listeners = Vec::new();
    for (name, hooks) in [
        ("grant", Hooks { grant: true, ..Hooks::default() }),
        ("before", Hooks { before_call: true, ..Hooks::default() }),
        ("after", Hooks { after_call: true, ..Hooks::default() }),
    ] {
        listeners.push(subscription(name, Arc::new(puppet(&sandbox, name, hooks).await)));
    }
    time(table, "call through the library: no listener", Vec::new()).await;
    time(table, "call through the library: grant, before-call and after-call", listeners).await;
}

async fn time(table: &mut Table, what: &str, listeners: Vec<Subscription>) {
    let provider: Arc<dyn ToolProvider> = Arc::new(Recorder::default());
    let definition = Json::parse(r#"{"name":"read"}"#).expect("it is JSON");
    let dispatcher: Dispatcher = dispatcher(vec![Tool::new(row("read"), definition, provider)], listeners);
    let ada = caller("ada", &["writer"]);
    table
        .time(what, 10_000, async || {
            let outcome = dispatcher.call(request(Some(ada.clone()), "read", r#"{"path":"/srv/a.txt"}"#)).await;
            assert!(matches!(outcome, Outcome::Executed(_)), "{outcome:?}");
        })
        .await;
}
