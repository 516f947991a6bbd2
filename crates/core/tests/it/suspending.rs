//! A listener that keeps failing is not asked for a while, and fails closed meanwhile (F6).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use callgate_core::dispatcher::Reading;
use callgate_core::permissions::Permissions;
use callgate_core::report::{Ending, FailureKind, Said};
use callgate_core::subscription::BreakerLimits;
use callgate_core::testing::{self, Scripted, subscription};
use callgate_core::{ListenerFailure, Outcome, Refusal, Subscription, Verdict};

use crate::support::{Host, Log, ada, ada_but, audit, governed, listed, recorded};

/// A listener that traps before every call while it is broken, and the switch that mends it.
fn breakable() -> (Arc<Scripted>, Arc<AtomicBool>) {
    let broken = Arc::new(AtomicBool::new(true));
    let switch = broken.clone();
    let listener = Scripted::default().on_before_call(move |_| match broken.load(Ordering::SeqCst) {
        true => Err(trap()),
        false => Ok(Verdict::Proceed),
    });
    (Arc::new(listener), switch)
}

fn trap() -> ListenerFailure {
    ListenerFailure::Trap { detail: "unreachable".into(), stderr: String::new() }
}

fn counts(host: &Host) -> (u64, u64) {
    let rules = host.dispatcher.rules().current();
    (rules.listeners[0].failures(), rules.listeners[0].suspended())
}

#[tokio::test(start_paused = true)]
async fn f6_a_listener_that_keeps_failing_is_not_asked_and_is_tried_again() {
    let (log, _capturing) = Log::capture();
    let ((listener, broken), audit) = (breakable(), audit());
    let host = Host::new([listener.clone(), audit.clone()]);
    for _ in 0..40 {
        assert_eq!(host.call().await, Outcome::Refused(Refusal::Internal));
    }
    assert_eq!((listener.before().len(), counts(&host), host.tool.calls()), (5, (5, 35), 0));

    let reports = audit.reports();
    assert_eq!(reports.len(), 40, "every refused call is told about");
    let Ending::Failed(failed) = &reports[39].ending else { panic!("{:?}", reports[39].ending) };
    assert_eq!((failed.kind, failed.listener.as_deref()), (FailureKind::Listener, Some("first")));
    assert_eq!(failed.detail, "not asked, because it failed 5 times in a row; the last time: trap");
    assert_eq!(reports[39].steps[0].said, Said::Failed);

    // After a second it is tried once, and after two more again.
    for (wait, asked) in [(1, 6), (1, 6), (1, 7)] {
        tokio::time::advance(Duration::from_secs(wait)).await;
        assert_eq!(host.call().await, Outcome::Refused(Refusal::Internal));
        assert_eq!(host.call().await, Outcome::Refused(Refusal::Internal));
        assert_eq!(listener.before().len(), asked);
    }
    broken.store(false, Ordering::SeqCst);
    assert_eq!(host.call().await, Outcome::Refused(Refusal::Internal), "nobody has tried it yet");
    tokio::time::advance(Duration::from_secs(4)).await;
    for _ in 0..3 {
        assert!(matches!(host.call().await, Outcome::Executed(_)));
    }
    assert_eq!((listener.before().len(), host.tool.calls()), (10, 3));

    let told = ["a listener failed", "it is not asked for this while", "it is asked again"].map(|it| log.lines(it));
    assert_eq!(told.each_ref().map(Vec::len), [7, 3, 1], "{told:?}");
    for (line, pause) in told[1].iter().zip([1_000, 2_000, 4_000]) {
        assert!(line.contains("listener=\"first\" hook=\"before-call\" caller=\"ada\" tool=\"write\""), "{line}");
        assert!(line.contains(&format!("pause_ms={pause}")), "{line}");
    }
    assert!(told[2][0].contains(&format!("suspended={}", counts(&host).1)), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn f6_nobody_else_notices() {
    // Ada can make it trap, in one tool.
    let listener = Arc::new(Scripted::default().on_before_call(|call| {
        let hers = call.context().caller.subject() == "ada" && call.identifier() == "write";
        if hers { Err(trap()) } else { Ok(Verdict::Proceed) }
    }));
    let tools = ["write", "read"].map(|name| recorded(name).0).into();
    let dispatcher = testing::dispatcher(tools, vec![subscription("gate", listener)]);
    let call = |caller, tool| dispatcher.call(testing::request(caller, tool, "{}"));
    for _ in 0..20 {
        assert_eq!(call(ada(), "write").await, Outcome::Refused(Refusal::Internal));
        assert!(matches!(call(ada(), "read").await, Outcome::Executed(_)));
        assert!(matches!(call(Some(testing::caller("bob", &[])), "write").await, Outcome::Executed(_)));
    }
    assert_eq!(dispatcher.rules().current().listeners[0].suspended(), 15);
    // A caller that differs in anything is another one: it is asked about.
    let other = ada_but(|identity| identity.tenant = Some("acme".into()));
    let before = dispatcher.rules().current().listeners[0].failures();
    assert_eq!(call(other, "write").await, Outcome::Refused(Refusal::Internal));
    assert_eq!(dispatcher.rules().current().listeners[0].failures(), before + 1);
}

#[tokio::test(start_paused = true)]
async fn f6_a_suspended_gate_is_shut_for_a_call_and_degrades_a_listing() {
    let gate = Arc::new(Scripted::default().on_grant(|query| match query.caller.subject() {
        "ada" => Err(trap()),
        _ => Ok(callgate_core::grant::GrantAnswer::Abstain),
    }));
    let mut permissions = Permissions::default();
    permissions.permit("files", "test/write", ["admin"]);
    let tools = ["write", "read"].map(|name| recorded(name).0).into();
    let dispatcher = governed(tools, permissions, vec![subscription("gate", gate.clone())]);
    for _ in 0..10 {
        let outcome = dispatcher.call(testing::request(ada(), "read", "{}")).await;
        assert_eq!(outcome, Outcome::Refused(Refusal::AccessNotVerified));
        let listing = dispatcher.list(ada()).await;
        assert_eq!(listing.reading, Reading::Degraded);
        assert_eq!(listing.tools.len(), 1, "what the caller's roles permit, and no more");
    }
    assert_eq!(gate.asked(), 5);
    assert_eq!(listed(&dispatcher, Some(testing::caller("bob", &[]))).await, ["read"]);
    assert_eq!(gate.asked(), 6);
}

#[tokio::test(start_paused = true)]
async fn f6_what_happens_afterwards_is_always_told() {
    let deaf = Arc::new(Scripted::default().on_after_call(|_| Err(trap())));
    let host = Host::new([deaf.clone()]);
    for _ in 0..20 {
        assert!(matches!(host.call().await, Outcome::Executed(_)));
    }
    assert_eq!((deaf.reports().len(), counts(&host)), (20, (20, 0)));
}

#[tokio::test(start_paused = true)]
async fn f6_it_can_be_set_and_switched_off() {
    for (failures, asked) in [(2, 2), (0, 20)] {
        let (listener, _) = breakable();
        let limits = BreakerLimits { failures, ..BreakerLimits::default() };
        let subscribed: Subscription = subscription("gate", listener.clone()).with_breaker(limits);
        let host = Host::subscribed(vec![subscribed]);
        for _ in 0..20 {
            assert_eq!(host.call().await, Outcome::Refused(Refusal::Internal));
        }
        assert_eq!(listener.before().len(), asked);
    }
}
