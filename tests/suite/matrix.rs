//! {gateway, library} × {each revision} × {what a listener does} × {listing, call}: what the client gets, whether the tool ran,
//! what the audit trail holds, and how often listeners were told.

mod doors;

use callgate_tests::wire::Revision;
use doors::{Door, Session};
use serde_json::{Value, json};

const INTERNAL: &str = "Error: An internal error occurred while executing the tool.";
const NOT_VERIFIED: &str = "Error: Tool access could not be verified.";

/// What a listener does, and what has to come of it.
struct Act {
    hook: &'static str,
    act: Value,
    /// Whether the listing shows the tool.
    listed: bool,
    /// Whether the listing is one that a failed gate degraded.
    degraded: bool,
    call: Call,
}

/// What a client gets for a call.
enum Call {
    Runs,
    Result { text: &'static str, is_error: bool, ending: &'static str },
    Unknown,
}

fn acts() -> Vec<Act> {
    let before = |act: Value, call| Act { hook: "before-call", act, listed: true, degraded: false, call };
    let after =
        |act: &str| Act { hook: "after-call", act: json!(act), listed: true, degraded: false, call: Call::Runs };
    let internal = || Call::Result { text: INTERNAL, is_error: true, ending: "failed" };
    let refused = || Call::Result { text: NOT_VERIFIED, is_error: true, ending: "failed" };
    let stored = json!({ "answer": { "content": [{ "type": "text", "text": "stored" }] } });
    vec![
        before(json!("pass"), Call::Runs),
        before(json!({ "deny": "not today" }), Call::Result { text: "not today", is_error: true, ending: "denied" }),
        before(stored, Call::Result { text: "stored", is_error: false, ending: "answered" }),
        before(json!("trap"), internal()),
        before(json!("loop"), internal()),
        before(json!("hoard"), internal()),
        Act { hook: "grant", act: json!({ "narrow": [] }), listed: false, degraded: false, call: Call::Unknown },
        Act { hook: "grant", act: json!("trap"), listed: true, degraded: true, call: refused() },
        Act { hook: "grant", act: json!("loop"), listed: true, degraded: true, call: refused() },
        Act { hook: "grant", act: json!("hoard"), listed: true, degraded: true, call: refused() },
        after("trap"),
        after("loop"),
        after("hoard"),
    ]
}

async fn one_cell(door: Door, revision: Revision, act: &Act) {
    let cell = format!("{door:?} {revision:?} {} {}", act.hook, act.act);
    let mut session = Session::open(door, revision, act.hook, &act.act).await;

    let listing = session.wire.answer(&revision.list(1)).await;
    let listing = &listing["result"];
    let names: Vec<_> = listing["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names.contains(&&json!("record")), act.listed, "{cell}: {listing}");
    let modern = revision == Revision::July2026;
    assert_eq!(listing["cacheScope"], if modern { json!("private") } else { Value::Null }, "{cell}");
    assert!(!modern || !act.degraded || listing["ttlMs"] == 0, "{cell}: {listing}");

    let answer = session.wire.answer(&revision.call(2, "record", &session.arguments())).await;
    let runs = matches!(act.call, Call::Runs);
    match &act.call {
        Call::Runs => {
            assert_eq!(
                answer["result"]["content"],
                json!([{ "type": "text", "text": "recorded ran" }]),
                "{cell}: {answer}"
            );
        }
        Call::Result { text, is_error, .. } => {
            let result = &answer["result"];
            assert_eq!(result["content"], json!([{ "type": "text", "text": text }]), "{cell}: {answer}");
            assert_eq!(result["isError"] == true, *is_error, "{cell}: {answer}");
            assert_eq!(result["resultType"], if modern { json!("complete") } else { Value::Null }, "{cell}");
        }
        Call::Unknown => {
            let error = json!({ "code": -32602, "message": "Error: Unknown tool 'record'." });
            assert_eq!(answer["error"], error, "{cell}: {answer}");
        }
    }

    let after = session.close().await;
    let ending = match act.call {
        Call::Runs => Some("executed"),
        Call::Result { ending, .. } => Some(ending),
        Call::Unknown => None,
    };
    let expected: Vec<_> = ending.into_iter().collect();
    assert_eq!(after.runs, usize::from(runs), "{cell}");
    assert_eq!(after.audited, expected, "{cell}");
    assert_eq!(after.told, expected, "{cell}");
}

async fn every_cell(door: Door, revision: Revision) {
    for act in acts() {
        one_cell(door, revision, &act).await;
    }
}

#[tokio::test]
async fn g4_g6_b2_b6_a1_a3_w1_in_the_library_in_every_revision() {
    for revision in Revision::ALL {
        every_cell(Door::Library, revision).await;
    }
}

#[tokio::test]
async fn g4_g6_b2_b6_a1_a3_w1_behind_the_gateway_in_2025_06_18() {
    every_cell(Door::Gateway, Revision::June2025).await;
}

#[tokio::test]
async fn g4_g6_b2_b6_a1_a3_w1_behind_the_gateway_in_2025_11_25() {
    every_cell(Door::Gateway, Revision::November2025).await;
}

#[tokio::test]
async fn g4_g6_g11_b2_b6_a1_a3_w1_behind_the_gateway_in_2026_07_28() {
    every_cell(Door::Gateway, Revision::July2026).await;
}
