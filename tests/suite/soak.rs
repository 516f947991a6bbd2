//! Memory after many calls and many loads. `cargo xtask soak` is the same at length.

use callgate_tests::process::alone;
use callgate_tests::soak::{Growth, Loads, call, many_endings};

/// What a thousand calls, or ten loads, may take for good, in MiB: ten times what the long run allows.
const MOST: f64 = 1.0;

#[test]
fn f5_calls_leave_no_memory_behind() {
    alone("soak::f5_calls_leave_no_memory_behind", || on_two_threads(calls()));
}

#[test]
fn f5_components_that_are_dropped_leave_no_memory_behind() {
    alone("soak::f5_components_that_are_dropped_leave_no_memory_behind", || on_two_threads(loads()));
}

fn on_two_threads(test: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    runtime.worker_threads(2).enable_all().build().unwrap().block_on(test);
}

async fn calls() {
    let dispatcher = many_endings().await;
    call(&dispatcher, 2_000).await;
    let mut growth = Growth::default();
    for _ in 0..10 {
        assert!(call(&dispatcher, 1_000).await > 600, "most calls are to come to their tool");
        growth.step();
    }
    assert!(growth.per_step() < MOST, "{growth:?}");
}

async fn loads() {
    let loads = Loads::default();
    let mut growth = Growth::default();
    // The first ten warm up.
    for number in 0..=110 {
        if number >= 10 && number % 10 == 0 {
            growth.step();
        }
        loads.cycle(number).await;
    }
    assert!(growth.per_step() < MOST, "{growth:?}");
}
