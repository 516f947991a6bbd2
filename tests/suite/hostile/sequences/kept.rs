//! Guests that remember through the state store, in a few lines each.

use callgate_kit::imports::STATE;

use super::{Alone, run};
use crate::hostile::guests::{PASS, answer, deny};

/// The keys of these guests, and what one of them says.
const TEXTS: &str = r#"
  (data (i32.const 1024) "reply") (data (i32.const 1040) "approved") (data (i32.const 1056) "Ask an operator first.")"#;

async fn keeping(bodies: [&str; 3]) -> Alone {
    Alone::with(&format!("{STATE} {TEXTS}"), bodies, |guest| guest).await
}

#[tokio::test]
async fn f5_record_names() {
    // The name lies at 72 of the call, and the report begins with the call.
    let count = |call: &str| {
        format!(
            "(call $increment (i32.load offset=72 (local.get {call})) (i32.load offset=76 (local.get {call}))
               (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 64)) {PASS}"
        )
    };
    let guest = keeping([PASS, &count("$call"), &count("$report")]).await;
    guest.call().await;
    guest.call().await;
    assert_eq!(guest.kept("record").await.as_deref(), Some("4"), "each call twice");
}

/// Answers with what the first call got. What the tool replied lies at 216 of a report, if it is there and inline.
#[tokio::test]
async fn b2_b5_ledger() {
    let before = format!(
        "(call $get (i32.const 1024) (i32.const 5) (i32.const 64))
         (if (result i32) (i32.load8_u (i32.const 68)) (then {}) (else {PASS}))",
        answer("(i32.load (i32.const 72))", "(i32.load (i32.const 76))")
    );
    let after = format!(
        "(if (i32.eqz (i32.load8_u offset=208 (local.get $report))) (then unreachable))
         (if (i32.load8_u offset=212 (local.get $report)) (then unreachable))
         (call $set (i32.const 1024) (i32.const 5)
           (i32.load offset=216 (local.get $report)) (i32.load offset=220 (local.get $report))
           (i32.const 0) (i32.const 0) (i32.const 64)) {PASS}"
    );
    let guest = keeping([PASS, &before, &after]).await;
    for _ in 0..3 {
        assert_eq!(guest.call().await, run(1));
    }
    assert_eq!((guest.runs.runs(), guest.failures()), (1, 0));
}

/// Lets one call proceed for each approval, and denies otherwise.
#[tokio::test]
async fn b2_b3_approve() {
    let before = format!(
        "(call $remove (i32.const 1040) (i32.const 8) (i32.const 64))
         (if (result i32) (i32.load8_u (i32.const 68)) (then {PASS}) (else {}))",
        deny("(i32.const 1056)", "(i32.const 22)")
    );
    let guest = keeping([PASS, &before, PASS]).await;
    let refused = r#"{"content":[{"type":"text","text":"Ask an operator first."}],"isError":true}"#;
    assert_eq!(guest.call().await, refused);
    guest.state.set("guest", "approved", "by bob", None).await.unwrap();
    assert_eq!(guest.call().await, run(1));
    assert_eq!(guest.call().await, refused);
    assert_eq!((guest.runs.runs(), guest.failures()), (1, 0));
}
