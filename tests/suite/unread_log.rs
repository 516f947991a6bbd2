//! Clients start the gateway with its standard error in a pipe, and some never read it.

use std::process::Stdio;

use callgate_tests::built::callgate;
use callgate_tests::gateway::Configuration;
use callgate_tests::wire::{Revision, Wire};
use serde_json::json;

/// More than a pipe holds.
const CALLS: u64 = 60;

#[tokio::test]
async fn f4_a_log_that_nobody_reads_stops_no_call() {
    // Each call leaves a line of some kilobytes: what the listener after it had to say when it failed.
    let panics = format!("after-call = {{ panic = \"{}\" }}", "x".repeat(3_000));
    let demo = [callgate().into(), "demo-server".into()];
    let gateway = Configuration::new().upstream("demo", &demo).listener("puppet", &panics).write();
    let mut wire = Wire::start_with(&gateway.serve(), Stdio::piped());
    wire.begin(Revision::July2026).await;
    for id in 1..=CALLS {
        let answer = wire.answer(&Revision::July2026.call(id, "list_rewards", &json!({}))).await;
        assert!(answer.get("result").is_some(), "{answer}");
    }
    wire.close().await;
}
