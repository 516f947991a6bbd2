//! G8: the last line of defence, against the registry and the permissions in force when it matters.

use std::sync::Arc;

use callgate_core::permissions::Permissions;
use callgate_core::registry::{Row, Tool};
use callgate_core::report::{Dispatch, Ending};
use callgate_core::testing::{self, Recorder, Scripted, subscription};
use callgate_core::{Json, Outcome, Refusal, RuleSet, ToolRegistry, Verdict};

use crate::support::{ada, answer, audit, denial, governed};

/// What an operator does while listeners decide.
#[derive(Clone, Copy, Debug)]
enum Withdrawal {
    Row,
    Permission,
    Nothing,
}

struct Tried {
    outcome: Outcome,
    ending: Ending,
    dispatch: Dispatch,
    runs: u64,
}

async fn withdrawn_during(verdict: Verdict, withdrawal: Withdrawal) -> Tried {
    let recorder = Arc::new(Recorder::default());
    let row = Row { section: Some("files".into()), ..testing::row("write") };
    let tool = || Tool::new(row.clone(), Json::empty_object(), recorder.clone());
    let permissions = |role: &str| {
        let mut permissions = Permissions::default();
        permissions.permit("files", "test/write", [role]);
        permissions
    };
    let registry = || ToolRegistry::new([tool()]).unwrap();
    let next = std::sync::Mutex::new(match withdrawal {
        Withdrawal::Row => Some(RuleSet::new(ToolRegistry::default(), permissions("writer"), vec![])),
        Withdrawal::Permission => Some(RuleSet::new(registry(), permissions("admin"), vec![])),
        Withdrawal::Nothing => None,
    });

    let rules = Arc::new(std::sync::OnceLock::<Arc<callgate_core::Rules>>::new());
    let rules_of_gate = rules.clone();
    let gate = Arc::new(Scripted::default().on_before_call(move |_| {
        if let Some(next) = next.lock().unwrap().take() {
            rules_of_gate.get().unwrap().replace(next);
        }
        Ok(verdict.clone())
    }));
    let audit = audit();
    let listeners = vec![subscription("gate", gate), subscription("audit", audit.clone())];
    let dispatcher = governed(vec![tool()], permissions("writer"), listeners);
    rules.set(dispatcher.rules().clone()).unwrap();

    let outcome = dispatcher.call(testing::request(ada(), "write", "{}")).await;
    let mut reports = audit.reports();
    assert_eq!(reports.len(), 1, "the listeners of the generation that the call began on are told");
    let report = reports.remove(0);
    Tried { outcome, ending: report.ending, dispatch: report.dispatch, runs: recorder.calls() }
}

#[tokio::test]
async fn g8_what_is_withdrawn_while_listeners_decide_is_withdrawn() {
    for withdrawal in [Withdrawal::Row, Withdrawal::Permission] {
        for verdict in [Verdict::Proceed, answer("stored")] {
            let tried = withdrawn_during(verdict, withdrawal).await;
            assert_eq!(tried.outcome, Outcome::Refused(Refusal::UnknownTool("write".into())), "{withdrawal:?}");
            assert_eq!((tried.ending, tried.dispatch, tried.runs), (Ending::Withdrawn, Dispatch::None, 0));
        }
    }
}

#[tokio::test]
async fn g8_what_is_not_withdrawn_runs_or_is_answered() {
    assert_eq!(withdrawn_during(Verdict::Proceed, Withdrawal::Nothing).await.runs, 1);
    let answered = withdrawn_during(answer("stored"), Withdrawal::Nothing).await;
    assert_eq!(answered.ending, Ending::Answered { listener: "gate".into() });
}

#[tokio::test]
async fn g8_a_denial_stays_a_denial() {
    let tried = withdrawn_during(denial("no"), Withdrawal::Row).await;
    assert_eq!(tried.ending, Ending::Denied { listener: "gate".into() });
}
