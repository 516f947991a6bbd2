//! The gateway is killed in the middle of a call and started again: what may have run is not run again.

use callgate_tests::gateway::{Configuration, Gateway};
use callgate_tests::peers;
use callgate_tests::waiting::{lines, until};
use callgate_tests::wire::Revision;
use serde_json::json;

const REVISION: Revision = Revision::November2025;

fn gateway() -> Gateway {
    Configuration::new()
        .upstream("python", &peers::python_server())
        .listener("idempotency-ledger", "")
        .listener("audit-trail", "")
        .write()
}

fn slow(gateway: &Gateway, id: u64, key: &str) -> String {
    let arguments = json!({ "started": gateway.folder().join("started"), "release": gateway.folder().join("release") });
    let meta = json!({ "festi/idempotencyKey": key });
    REVISION.request(id, "tools/call", json!({ "name": "slow", "arguments": arguments, "_meta": meta }))
}

#[tokio::test]
async fn b7_a_call_that_was_cut_off_by_the_end_of_the_gateway_is_not_run_again() {
    let gateway = gateway();
    let (started, release) = (gateway.folder().join("started"), gateway.folder().join("release"));
    let mut first = gateway.start();
    first.begin(REVISION).await;
    first.send(&slow(&gateway, 1, "order-17")).await;
    until("the tool to run", || lines(&started) == 1).await;
    first.kill().await;

    std::fs::write(&release, "").unwrap();
    let mut second = gateway.start();
    second.begin(REVISION).await;
    for id in [1, 2] {
        let repeat = second.answer(&slow(&gateway, id, "order-17")).await;
        assert_eq!(repeat["result"]["isError"], true);
        let text = repeat["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("its end was never recorded"), "{text}");
        assert_eq!(lines(&started), 1);
    }
    // Another key is another call, and runs, so that it was the ledger that held the first one back.
    let other = second.answer(&slow(&gateway, 3, "order-18")).await;
    assert_eq!(other["result"]["content"][0]["text"], "released");
    assert_eq!(lines(&started), 2);
    second.close().await;
}

#[tokio::test]
async fn a5_what_was_answered_before_the_end_is_answered_after_it() {
    let gateway = gateway();
    let started = gateway.folder().join("started");
    std::fs::write(gateway.folder().join("release"), "").unwrap();
    let mut results = Vec::new();
    for _ in 0..2 {
        let mut wire = gateway.start();
        wire.begin(REVISION).await;
        results.push(wire.ask(&slow(&gateway, 1, "order-17")).await);
        // The answer has left, so what it rests on was written before.
        wire.kill().await;
    }
    let result = |line: &String| line.split_once(r#""result":"#).unwrap().1.trim_end_matches('}').to_owned();
    assert_eq!(result(&results[0]), result(&results[1]));
    assert_eq!(lines(&started), 1);
}
