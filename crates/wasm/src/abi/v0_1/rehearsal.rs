//! Made-up events for instances that have not had theirs: about a call that nobody made, of a tool that does not exist.

use callgate_core::listener::Hooks;
use wasmtime::Store;

use crate::event::EventState;

use super::bindings::callgate::listener::types;
use super::bindings::exports::callgate::listener::after_call;
use super::hooks::{AfterCallEvent, BeforeCallEvent, GrantEvent, HookEvent, LoadedHooks};

/// Runs one made-up event through each of those hooks. What they answer is nobody's business, an error included.
pub(crate) async fn rehearse(used: Hooks, hooks: &LoadedHooks, store: &mut Store<EventState>) -> wasmtime::Result<()> {
    if used.grant {
        let _ = GrantEvent { caller: caller() }.ask(hooks, store).await?;
    }
    if used.before_call {
        let _ = BeforeCallEvent { call: call(), row: row() }.ask(hooks, store).await?;
    }
    if used.after_call {
        let _ = AfterCallEvent { report: report() }.ask(hooks, store).await?;
    }
    Ok(())
}

fn caller() -> types::Caller {
    types::Caller {
        subject: "rehearsal".into(),
        issuer: None,
        auth_method: "rehearsal".into(),
        roles: vec!["rehearsal".into()],
        tenant: None,
        claims: vec![entry("rehearsal", "true")],
        attributes: Vec::new(),
    }
}

fn call() -> types::ToolCall {
    types::ToolCall {
        id: "rehearsal".into(),
        caller: caller(),
        identifier: "rehearsal".into(),
        arguments: types::Payload::Text(r#"{"rehearsal":{"text":"a text","number":1,"list":[true,null]}}"#.into()),
        meta: vec![entry("rehearsal", "true")],
        meta_dropped: 0,
        continuation: false,
        attributes: vec![entry("callgate/host-run", "\"rehearsal\"")],
    }
}

fn row() -> types::Row {
    types::Row {
        identifier: "rehearsal".into(),
        rpc_method: "rehearsal/rehearsal".into(),
        section: Some("rehearsal".into()),
        generic: false,
        definition_digest: "0".repeat(64),
        attributes: Vec::new(),
    }
}

fn report() -> after_call::Report {
    let step = after_call::Step {
        listener: "rehearsal".into(),
        digest: "0".repeat(64),
        said: "proceed".into(),
        private_reason: None,
        micros: 1,
    };
    after_call::Report {
        call: call(),
        row: Some(row()),
        ending: after_call::Ending::Executed(after_call::Completion::Complete),
        dispatch: after_call::Dispatch::Done,
        reply: Some(types::Payload::Text(r#"{"content":[{"type":"text","text":"rehearsal"}]}"#.into())),
        duration_ms: 1.0,
        steps: vec![step],
        attributes: Vec::new(),
    }
}

fn entry(key: &str, value: &str) -> types::Entry {
    types::Entry { key: key.into(), value: value.into() }
}
