//! A guest between two listeners that do their work: a native one before it and a component after it.

use std::sync::Arc;

use callgate_core::grant::{GrantAnswer, Narrowing};
use callgate_core::listener::Hooks;
use callgate_core::permissions::Permissions;
use callgate_core::registry::{Exposure, Row};
use callgate_core::report::{CallReport, Ending};
use callgate_core::state::MemoryState;
use callgate_core::testing::{self, Scripted, caller};
use callgate_core::tool::ReplyBody;
use callgate_core::{Dispatcher, Listing, Outcome, RuleSet, StateStore, Subscription, ToolRegistry, Verdict};
use callgate_kit::imports::STATE;
use callgate_kit::{self as kit, MEMORY};
use callgate_tests::host::{self, Component};
use callgate_tests::tools::{Counting, numbered};
use callgate_wasm::{Hook, LoadedComponent};
use tokio::sync::OnceCell;

use super::guests::{Guest, PASS, deny, narrow};

/// What stands in place of the guest, and around it.
pub(super) struct Rig {
    pub(super) dispatcher: Dispatcher,
    pub(super) digest: String,
    registry: ToolRegistry,
    runs: Arc<Counting>,
    first: Arc<Scripted>,
    state: Arc<dyn StateStore>,
}

/// How often somebody was asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) grant: u64,
    pub(super) before_call: u64,
    pub(super) after_call: u64,
}

impl Rig {
    /// The guest as that hook alone.
    pub(super) async fn beside(guest: &Guest, hook: Hook) -> Self {
        let state: Arc<dyn StateStore> = Arc::new(MemoryState::default());
        let component = guest.load().await;
        let bad = Component::loaded("bad", &component).limited(guest.limits).asked(only(hook)).over(&state).await;
        let (record, runs) = numbered(testing::row("record"));
        let withheld = Row { exposure: Exposure::Withheld, ..testing::row("withheld") };
        let others = [testing::row("not-for-first"), testing::row("not-for-last"), withheld].map(|row| numbered(row).0);
        let registry = ToolRegistry::new(others.into_iter().chain([record])).unwrap();
        let first = Arc::new(first());
        let rig = Self {
            dispatcher: host::dispatcher(Vec::new(), Permissions::default(), Vec::new()),
            digest: component.digest().to_owned(),
            registry,
            runs,
            first,
            state,
        };
        rig.put_in_force(Some(bad)).await;
        rig
    }

    /// From now on the two listeners are on their own.
    pub(super) async fn without_the_guest(&self) {
        self.put_in_force(None).await;
    }

    async fn put_in_force(&self, bad: Option<Subscription>) {
        let first = testing::subscription("first", self.first.clone());
        let last = Component::loaded("last", last().await).over(&self.state).await;
        let listeners = [Some(first), bad, Some(last)].into_iter().flatten().collect();
        self.dispatcher.rules().replace(RuleSet::new(self.registry.clone(), Permissions::default(), listeners));
    }

    pub(super) async fn list(&self) -> Listing {
        self.dispatcher.list(Some(caller("ada", &[]))).await
    }

    /// What the caller gets for a call, to the byte.
    pub(super) async fn call(&self, tool: &str, arguments: &str) -> String {
        said(self.dispatcher.call(testing::request(Some(caller("ada", &[])), tool, arguments)).await)
    }

    /// How often the tool ran.
    pub(super) fn runs(&self) -> u64 {
        self.runs.runs()
    }

    /// How often the guest failed.
    pub(super) fn failures(&self) -> u64 {
        let rules = self.dispatcher.rules().current();
        rules.listeners.iter().find(|listener| listener.name() == "bad").unwrap().failures()
    }

    pub(super) fn first_asked(&self) -> Asked {
        let (before_call, after_call) = (self.first.before().len() as u64, self.first.reports().len() as u64);
        Asked { grant: self.first.asked(), before_call, after_call }
    }

    pub(super) async fn last_asked(&self) -> Asked {
        let count = async |hook: Hook| {
            let count = self.state.get("last", &hook.to_string()).await.unwrap();
            count.map_or(0, |count| count.parse().unwrap())
        };
        Asked {
            grant: count(Hook::Grant).await,
            before_call: count(Hook::BeforeCall).await,
            after_call: count(Hook::AfterCall).await,
        }
    }

    /// How each call ended and what every listener said about it, in the order of the calls.
    pub(super) fn told(&self) -> Vec<String> {
        self.first.reports().iter().map(told).collect()
    }
}

pub(super) fn only(hook: Hook) -> Hooks {
    Hooks { grant: hook == Hook::Grant, before_call: hook == Hook::BeforeCall, after_call: hook == Hook::AfterCall }
}

fn first() -> Scripted {
    Scripted::default()
        .on_grant(|_| {
            Ok(GrantAnswer::Narrow(Narrowing::to_nothing().and_named(["record", "not-for-last", "withheld"])))
        })
        .on_before_call(|_| Ok(Verdict::Proceed))
        .on_after_call(|_| Ok(()))
}

/// Counts what it is asked under the name of the hook, and denies calls with arguments.
async fn last() -> &'static Arc<LoadedComponent> {
    static LAST: OnceCell<Arc<LoadedComponent>> = OnceCell::const_new();
    let load = async || {
        let count = |at: usize, hook: Hook| {
            let length = hook.to_string().len();
            format!(
                "(call $increment (i32.const {at}) (i32.const {length}) (i32.const 1) (i32.const 0) (i32.const 0)
                   (i32.const 64))"
            )
        };
        let items = format!(
            r#"{STATE} {MEMORY}
               (data (i32.const 1024) "grant") (data (i32.const 1040) "before-call") (data (i32.const 1056) "after-call")
               (data (i32.const 1072) "record") (data (i32.const 1088) "not-for-first")
               (data (i32.const 1104) "not with arguments")"#
        );
        let grant = count(1024, Hook::Grant)
            + &narrow(&[("(i32.const 1072)", "(i32.const 6)"), ("(i32.const 1088)", "(i32.const 13)")]);
        // The length of the arguments lies at 88 of the call, and that of `{}` is 2.
        let before = format!(
            "{} (if (result i32) (i32.eq (i32.load offset=88 (local.get $call)) (i32.const 2)) (then {PASS}) (else {}))",
            count(1040, Hook::BeforeCall),
            deny("(i32.const 1104)", "(i32.const 18)")
        );
        let after = count(1056, Hook::AfterCall) + PASS;
        host::load_bytes(kit::with_all_hooks(&items, [&grant, &before, &after])).await.unwrap()
    };
    LAST.get_or_init(load).await
}

/// What the caller gets, to the byte.
pub(super) fn said(outcome: Outcome) -> String {
    match outcome {
        Outcome::Executed(reply) => match reply.body {
            ReplyBody::Result(body) | ReplyBody::Error(body) => body.as_str().to_owned(),
        },
        Outcome::Answered(result) | Outcome::Denied(result) => result.as_str().to_owned(),
        Outcome::Refused(refusal) => refusal.to_string(),
        Outcome::Departed => panic!("nobody left"),
    }
}

fn told(report: &CallReport) -> String {
    let ending = match &report.ending {
        Ending::Executed(_) => "executed".to_owned(),
        Ending::Answered { listener } => format!("answered by {listener}"),
        Ending::Denied { listener } => format!("denied by {listener}"),
        Ending::Withdrawn => "withdrawn".to_owned(),
        Ending::Failed(failure) => format!("failed by {}", failure.listener.as_deref().unwrap_or("nobody")),
    };
    let steps = report.steps.iter().map(|step| format!("{} {}", step.listener, step.said.as_str()));
    format!("{ending}: {}", steps.collect::<Vec<_>>().join(", "))
}
