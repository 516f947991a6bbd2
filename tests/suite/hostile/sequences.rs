//! Guests that differ from event to event: by what they keep in the state store, by who calls, or by chance. No memory of
//! theirs lasts, so all that may differ is what the host gives them.

mod once;
mod by_caller;
mod kept;

use std::sync::Arc;

use callgate_core::permissions::Permissions;
use callgate_core::state::MemoryState;
use callgate_core::testing::{self, caller};
use callgate_core::{Dispatcher, StateStore};
use callgate_kit::{self as kit, MEMORY};
use callgate_tests::host::{self, Component};
use callgate_tests::tools::{Counting, numbered};

use super::rig::said;

/// A guest on its own in front of the tool `record`.
struct Alone {
    dispatcher: Dispatcher,
    runs: Arc<Counting>,
    state: Arc<dyn StateStore>,
}

impl Alone {
    /// The guest with these items and bodies, as its author or a test configures it further.
    async fn with(items: &str, bodies: [&str; 3], configure: impl FnOnce(Component) -> Component) -> Self {
        let state: Arc<dyn StateStore> = Arc::new(MemoryState::default());
        let bytes = kit::with_all_hooks(&format!("{items} {MEMORY}"), bodies);
        let component = Component::loaded("guest", &host::load_bytes(bytes).await.unwrap());
        let (record, runs) = numbered(testing::row("record"));
        let tools = vec![record, numbered(testing::row("ada")).0, numbered(testing::row("bob")).0];
        let listeners = vec![configure(component).over(&state).await];
        Self { dispatcher: host::dispatcher(tools, Permissions::default(), listeners), runs, state }
    }

    /// What a caller of that name gets for a call.
    async fn call_as(&self, subject: &str, arguments: &str) -> String {
        said(self.dispatcher.call(testing::request(Some(caller(subject, &[])), "record", arguments)).await)
    }

    async fn call(&self) -> String {
        self.call_as("ada", "{}").await
    }

    async fn kept(&self, key: &str) -> Option<String> {
        self.state.get("guest", key).await.unwrap()
    }

    fn failures(&self) -> u64 {
        self.dispatcher.rules().current().listeners[0].failures()
    }
}

/// What the tool replies when it runs for the `number`th time.
fn run(number: usize) -> String {
    format!(r#"{{ "content":[{{"text":"run {number}","type":"text"}}],"future": 1.50e1}}"#)
}
