//! The three hooks of one component, found by the interfaces that it exports.

use std::future::Future;

use callgate_core::grant::GrantedCall;
use callgate_core::{CallReport, Caller};
use wasmtime::Store;
use wasmtime::component::{Instance, InstancePre};

use crate::abi::Hook;
use crate::event::EventState;

use super::bindings::callgate::listener::types;
use super::bindings::exports::callgate::listener::{after_call, before_call, grant};
use super::lower::{self, PayloadCap};

/// Where a component's hooks are.
pub(crate) struct Hooks {
    grant: Option<grant::GuestIndices>,
    before_call: Option<before_call::GuestIndices>,
    after_call: Option<after_call::GuestIndices>,
}

impl Hooks {
    /// Finds those hooks. A hook whose interface has another type is an error.
    pub(crate) fn find(pre: &InstancePre<EventState>, exported: &[Hook]) -> wasmtime::Result<Self> {
        let has = |hook| exported.contains(&hook);
        Ok(Self {
            grant: has(Hook::Grant).then(|| grant::GuestIndices::new(pre)).transpose()?,
            before_call: has(Hook::BeforeCall).then(|| before_call::GuestIndices::new(pre)).transpose()?,
            after_call: has(Hook::AfterCall).then(|| after_call::GuestIndices::new(pre)).transpose()?,
        })
    }
}

/// The component does not have the hook. Listeners are asked only for the hooks that they have.
#[derive(Debug, thiserror::Error)]
#[error("the component has no {0} hook")]
struct NoHook(Hook);

/// One question to one hook.
pub(crate) trait HookEvent: Send {
    /// What the hook returns when it does not return an error.
    type Reply: Send;
    /// The hook that it is for.
    const HOOK: Hook;

    /// Puts the question to an instance.
    fn ask(
        &self,
        hooks: &Hooks,
        store: &mut Store<EventState>,
        instance: &Instance,
    ) -> impl Future<Output = wasmtime::Result<Result<Self::Reply, String>>> + Send;
}

/// Which tools exist for that caller?
pub(crate) struct GrantEvent {
    caller: types::Caller,
}

impl GrantEvent {
    pub(crate) fn new(caller: &Caller) -> Self {
        Self { caller: lower::caller(caller) }
    }
}

impl HookEvent for GrantEvent {
    type Reply = grant::Decision;
    const HOOK: Hook = Hook::Grant;

    async fn ask(
        &self,
        hooks: &Hooks,
        store: &mut Store<EventState>,
        instance: &Instance,
    ) -> wasmtime::Result<Result<Self::Reply, String>> {
        let hook = hooks.grant.as_ref().ok_or(NoHook(Self::HOOK))?.load(&mut *store, instance)?;
        hook.call_decide(store, &self.caller).await
    }
}

/// Does that call go on?
pub(crate) struct BeforeCallEvent {
    call: types::ToolCall,
    row: types::Row,
}

impl BeforeCallEvent {
    pub(crate) fn new(call: &GrantedCall, cap: PayloadCap) -> Self {
        Self { call: lower::tool_call(call.context(), cap), row: lower::row(call.row()) }
    }
}

impl HookEvent for BeforeCallEvent {
    type Reply = before_call::Verdict;
    const HOOK: Hook = Hook::BeforeCall;

    async fn ask(
        &self,
        hooks: &Hooks,
        store: &mut Store<EventState>,
        instance: &Instance,
    ) -> wasmtime::Result<Result<Self::Reply, String>> {
        let hook = hooks.before_call.as_ref().ok_or(NoHook(Self::HOOK))?.load(&mut *store, instance)?;
        hook.call_decide(store, &self.call, &self.row).await
    }
}

/// That call is over.
pub(crate) struct AfterCallEvent {
    report: after_call::Report,
}

impl AfterCallEvent {
    pub(crate) fn new(report: &CallReport, cap: PayloadCap) -> Self {
        Self { report: lower::report(report, cap) }
    }
}

impl HookEvent for AfterCallEvent {
    type Reply = ();
    const HOOK: Hook = Hook::AfterCall;

    async fn ask(
        &self,
        hooks: &Hooks,
        store: &mut Store<EventState>,
        instance: &Instance,
    ) -> wasmtime::Result<Result<Self::Reply, String>> {
        let hook = hooks.after_call.as_ref().ok_or(NoHook(Self::HOOK))?.load(&mut *store, instance)?;
        hook.call_notify(store, &self.report).await
    }
}
