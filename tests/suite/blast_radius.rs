//! Hundreds of calls at once on one thread, four listeners gone wrong among those that are asked: what goes wrong stays with
//! the tool that it goes wrong over (F2, F6).
#![cfg(target_os = "linux")]

mod crowd;

use std::time::Duration;

use callgate_core::subscription::BreakerLimits;
use callgate_tests::misbehaving::Vice;
use callgate_tests::process::{alone, resident_kib, threads};
use callgate_wasm::Hook;

use crowd::{BAD, Crowd, HEALTHY};

/// How much more memory may be resident after the crowd than after its first wave. The 16 places of the listener that eats
/// memory may keep 4 MiB each; if each of its events did, these would be 96 MiB.
const MARGIN_KIB: u64 = 80 << 10;
/// Waves after the first.
const WAVES: u64 = 3;

/// One try, and no other for as long as the test takes.
const PATIENT: BreakerLimits =
    BreakerLimits { failures: 5, pause: Duration::from_secs(3_600), longest_pause: Duration::from_secs(3_600) };
const OFF: BreakerLimits = BreakerLimits { failures: 0, ..PATIENT };

fn on_one_thread(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    // A thread that only ends because it was idle would look like one that was lost.
    runtime.enable_all().thread_keep_alive(Duration::from_secs(3_600)).build().unwrap().block_on(test);
}

#[test]
fn f2_f6_four_bad_listeners_beside_hundreds_of_calls() {
    alone("blast_radius::f2_f6_four_bad_listeners_beside_hundreds_of_calls", || on_one_thread(suspended()));
}

#[test]
fn f2_four_bad_listeners_that_nobody_stops_paying_for() {
    alone("blast_radius::f2_four_bad_listeners_that_nobody_stops_paying_for", || {
        on_one_thread(asked_each_time(Hook::BeforeCall, OFF));
    });
}

/// Every call has its result, and its listeners after it are told, each time again: they are never suspended.
#[test]
fn f2_a3_four_bad_listeners_after_hundreds_of_calls() {
    alone("blast_radius::f2_a3_four_bad_listeners_after_hundreds_of_calls", || {
        on_one_thread(asked_each_time(Hook::AfterCall, PATIENT));
    });
}

async fn suspended() {
    let crowd = Crowd::new(Hook::BeforeCall, PATIENT).await;
    crowd.wave("mallory").await;
    let after_first = Vice::ALL.map(|vice| crowd.counts(vice));
    later_waves(&crowd).await;
    for (vice, (failures, suspended)) in Vice::ALL.into_iter().zip(after_first) {
        assert!((5..=BAD).contains(&failures) && failures + suspended == BAD, "{vice:?}: {failures}, {suspended}");
        assert_eq!(crowd.counts(vice), (failures, suspended + WAVES * BAD), "{vice:?} is not asked any more");
        // What is open is open for one caller and one tool.
        for (caller, asked) in [("mallory", false), ("bob", true)] {
            let detail = crowd.refused_detail(caller, vice).await;
            assert_eq!(!detail.starts_with("not asked"), asked, "{vice:?}, {caller}: {detail}");
        }
    }
    let waves = 1 + WAVES;
    crowd.check_sums(waves * HEALTHY, waves * BAD + 2);
}

async fn asked_each_time(hook: Hook, breaker: BreakerLimits) {
    let crowd = Crowd::new(hook, breaker).await;
    crowd.wave("mallory").await;
    later_waves(&crowd).await;
    let waves = 1 + WAVES;
    assert_eq!(Vice::ALL.map(|vice| crowd.counts(vice)), [(waves * BAD, 0); 4]);
    crowd.check_sums(waves * HEALTHY, waves * BAD);
}

/// The waves after the first take no memory and lose no thread.
async fn later_waves(crowd: &Crowd) {
    let (before, threads_before) = (resident_kib(), threads());
    for _ in 0..WAVES {
        crowd.wave("mallory").await;
    }
    assert_eq!(threads(), threads_before);
    assert!(resident_kib() < before + MARGIN_KIB, "{} KiB were {before} before", resident_kib());
}
