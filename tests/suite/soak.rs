//! Memory after many calls and many loads. `cargo xtask soak` is the same at length.

use std::process::Command;

use callgate_tests::soak::{Growth, Loads, call, many_endings};

/// What a thousand calls, or ten loads, may take for good, in MiB: ten times what the long run allows.
const MOST: f64 = 1.0;

#[test]
fn f5_calls_leave_no_memory_behind() {
    alone("soak::calls");
}

#[test]
fn f5_components_that_are_dropped_leave_no_memory_behind() {
    alone("soak::loads");
}

/// Runs one of the tests below in a process of its own: what other tests take would be counted here.
fn alone(test: &str) {
    let this = std::env::current_exe().unwrap();
    let output = Command::new(this).args(["--exact", test, "--ignored", "--nocapture"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "f5_calls_leave_no_memory_behind runs it alone"]
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "f5_components_that_are_dropped_leave_no_memory_behind runs it alone"]
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
