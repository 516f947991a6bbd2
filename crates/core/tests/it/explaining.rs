//! Explaining a call takes the decisions of a live one, short of running the tool.

use std::sync::Arc;

use callgate_core::dispatcher::Foreseen;
use callgate_core::grant::{GrantAnswer, Narrowing, RowDecision};
use callgate_core::permissions::{BaseDecision, Permissions};
use callgate_core::report::Said;
use callgate_core::testing::{self, Scripted, subscription};
use callgate_core::{Outcome, Refusal, Verdict};

use crate::support::{Host, ada, answer, answer_json, denial, failure, governed, saying};

#[tokio::test]
async fn what_is_foreseen_is_what_a_live_call_comes_to() {
    for (verdict, foreseen) in [
        (Ok(Verdict::Proceed), Foreseen::Runs),
        (Ok(answer("a")), Foreseen::Answered { listener: "first".into(), answer: answer_json("a") }),
        (Ok(denial("no")), Foreseen::Denied { listener: "first".into(), reason: "no".into() }),
        (Err(failure()), Foreseen::Refused(Refusal::Internal)),
    ] {
        let host = Host::new([saying(verdict)]);
        let explanation = host.dispatcher.explain(testing::request(ada(), "write", "{}")).await;
        assert_eq!(explanation.foreseen, foreseen);
        assert_eq!((host.tool.calls(), explanation.steps.len()), (0, 1));
        assert_eq!(explanation.gate, Some(RowDecision::Granted));
        assert_eq!(explanation.base, Some(BaseDecision::ShownToAll));
        match (host.call().await, foreseen) {
            (Outcome::Executed(_), Foreseen::Runs) => {}
            (Outcome::Answered(live), Foreseen::Answered { answer, .. }) => assert_eq!(live, answer),
            (Outcome::Denied(live), Foreseen::Denied { reason, .. }) => assert!(live.as_str().contains(&reason)),
            (Outcome::Refused(live), Foreseen::Refused(refusal)) => assert_eq!(live, refusal),
            (live, foreseen) => panic!("{live:?} is not {foreseen:?}"),
        }
    }
}

#[tokio::test]
async fn it_says_who_withholds_a_row() {
    let gate = Scripted::default().on_grant(|_| Ok(GrantAnswer::Narrow(Narrowing::to_nothing().and_named(["read"]))));
    let mut permissions = Permissions::default();
    permissions.permit("files", "test/stat", ["admin"]);
    let tools = ["read", "stat", "write"].map(testing::tool).into();
    let dispatcher = governed(tools, permissions, vec![subscription("gate", Arc::new(gate))]);
    for (name, gate) in [
        ("read", Some(RowDecision::Granted)),
        ("stat", Some(RowDecision::Withheld(BaseDecision::RoleMissing))),
        ("write", Some(RowDecision::Narrowed("gate".into()))),
        ("absent", None),
    ] {
        let explanation = dispatcher.explain(testing::request(ada(), name, "{}")).await;
        assert_eq!(explanation.gate, gate, "{name}");
        assert_eq!(explanation.row.is_some(), name != "absent");
        assert_eq!(explanation.steps[0].said, Said::Narrow);
        let refused = Foreseen::Refused(Refusal::UnknownTool(name.into()));
        assert_eq!(explanation.foreseen, if name == "read" { Foreseen::Runs } else { refused });
    }
}

#[tokio::test]
async fn it_says_what_was_not_decided() {
    let failing = || Arc::new(Scripted::default().on_grant(|_| Err(failure())));
    let explain = |caller, name: &'static str| async move {
        Host::new([failing()]).dispatcher.explain(testing::request(caller, name, "{}")).await
    };
    let undecided = explain(ada(), "write").await;
    assert_eq!((undecided.gate, undecided.foreseen), (None, Foreseen::Refused(Refusal::AccessNotVerified)));
    assert_eq!(undecided.base, Some(BaseDecision::ShownToAll));
    assert_eq!(explain(ada(), "").await.foreseen, Foreseen::Refused(Refusal::ToolNameRequired));
    let nobody = explain(None, "write").await;
    assert_eq!((nobody.steps.len(), nobody.base), (0, None));
    assert_eq!(nobody.foreseen, Foreseen::Refused(Refusal::UnknownTool("write".into())));
}
