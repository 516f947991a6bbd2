//! The three hooks of one component, found by the interfaces that it exports.

use std::future::Future;

use callgate_core::grant::GrantedCall;
use callgate_core::{CallReport, Caller};
use wasmtime::Store;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{ComponentNamedList, Instance, InstancePre, Lift, Lower};

use crate::abi::Hook;
use crate::event::EventState;

use super::bindings::callgate::listener::types;
use super::bindings::exports::callgate::listener::{after_call, before_call, grant, prepare};
use super::lower::{self, PayloadCap};

/// What a component exports to prepare itself.
const PREPARE: &str = "callgate:listener/prepare@0.1.0";

/// Where a component's hooks are.
pub(crate) struct Hooks {
    grant: Option<grant::GuestIndices>,
    before_call: Option<before_call::GuestIndices>,
    after_call: Option<after_call::GuestIndices>,
    prepare: Option<prepare::GuestIndices>,
}

impl Hooks {
    /// Finds those hooks. A hook whose interface has another type is an error.
    pub(crate) fn find(pre: &InstancePre<EventState>, exported: &[Hook]) -> wasmtime::Result<Self> {
        let mut found = Self { grant: None, before_call: None, after_call: None, prepare: None };
        for hook in exported {
            match hook {
                Hook::Grant => {
                    check::<(types::Caller,), (Result<grant::Decision, String>,)>(pre, hook.interface(), "decide")?;
                    found.grant = Some(grant::GuestIndices::new(pre)?);
                }
                Hook::BeforeCall => {
                    type Question = (types::ToolCall, types::Row);
                    check::<Question, (Result<before_call::Verdict, String>,)>(pre, hook.interface(), "decide")?;
                    found.before_call = Some(before_call::GuestIndices::new(pre)?);
                }
                Hook::AfterCall => {
                    check::<(after_call::Report,), (Result<(), String>,)>(pre, hook.interface(), "notify")?;
                    found.after_call = Some(after_call::GuestIndices::new(pre)?);
                }
            }
        }
        if pre.component().get_export(None, PREPARE).is_some() {
            check::<(), (Result<u32, String>,)>(pre, PREPARE, "prepare")?;
            found.prepare = Some(prepare::GuestIndices::new(pre)?);
        }
        Ok(found)
    }

    /// Whether instances prepare themselves.
    pub(crate) fn has_prepare(&self) -> bool {
        self.prepare.is_some()
    }

    /// The hooks of one instance.
    pub(crate) fn load(&self, store: &mut Store<EventState>, instance: &Instance) -> wasmtime::Result<LoadedHooks> {
        Ok(LoadedHooks {
            grant: self.grant.as_ref().map(|hook| hook.load(&mut *store, instance)).transpose()?,
            before_call: self.before_call.as_ref().map(|hook| hook.load(&mut *store, instance)).transpose()?,
            after_call: self.after_call.as_ref().map(|hook| hook.load(&mut *store, instance)).transpose()?,
            prepare: self.prepare.as_ref().map(|hook| hook.load(&mut *store, instance)).transpose()?,
        })
    }
}

/// The hooks of one instance, ready to be called.
pub(crate) struct LoadedHooks {
    grant: Option<grant::Guest>,
    before_call: Option<before_call::Guest>,
    after_call: Option<after_call::Guest>,
    prepare: Option<prepare::Guest>,
}

impl LoadedHooks {
    /// Lets the instance prepare itself, if it does that. It returns how many rehearsals it wants.
    pub(crate) async fn prepare(&self, store: &mut Store<EventState>) -> Option<wasmtime::Result<Result<u32, String>>> {
        match &self.prepare {
            Some(prepare) => Some(prepare.call_prepare(store).await),
            None => None,
        }
    }
}

/// Looks at the type of a hook's function, which the generated bindings do only once there is an instance.
fn check<Question, Answer>(pre: &InstancePre<EventState>, interface: &str, function: &str) -> wasmtime::Result<()>
where
    Question: ComponentNamedList + Lower,
    Answer: ComponentNamedList + Lift,
{
    let component = pre.component();
    let missing = || wasmtime::Error::msg(format!("{interface} has no function `{function}`"));
    let (_, instance) = component.get_export(None, interface).ok_or_else(missing)?;
    match component.get_export(Some(&instance), function) {
        Some((ComponentItem::ComponentFunc(ty), _)) => ty
            .typecheck::<Question, Answer>(&pre.instance_type())
            .map_err(|error| error.context(format!("`{function}` of {interface}"))),
        _ => Err(missing()),
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
        hooks: &LoadedHooks,
        store: &mut Store<EventState>,
    ) -> impl Future<Output = wasmtime::Result<Result<Self::Reply, String>>> + Send;
}

/// Which tools exist for that caller?
pub(crate) struct GrantEvent {
    pub(super) caller: types::Caller,
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
        hooks: &LoadedHooks,
        store: &mut Store<EventState>,
    ) -> wasmtime::Result<Result<Self::Reply, String>> {
        let hook = hooks.grant.as_ref().ok_or(NoHook(Self::HOOK))?;
        hook.call_decide(store, &self.caller).await
    }
}

/// Does that call go on?
pub(crate) struct BeforeCallEvent {
    pub(super) call: types::ToolCall,
    pub(super) row: types::Row,
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
        hooks: &LoadedHooks,
        store: &mut Store<EventState>,
    ) -> wasmtime::Result<Result<Self::Reply, String>> {
        let hook = hooks.before_call.as_ref().ok_or(NoHook(Self::HOOK))?;
        hook.call_decide(store, &self.call, &self.row).await
    }
}

/// That call is over.
pub(crate) struct AfterCallEvent {
    pub(super) report: after_call::Report,
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
        hooks: &LoadedHooks,
        store: &mut Store<EventState>,
    ) -> wasmtime::Result<Result<Self::Reply, String>> {
        let hook = hooks.after_call.as_ref().ok_or(NoHook(Self::HOOK))?;
        hook.call_notify(store, &self.report).await
    }
}
