//! The example of a host project: three tools of its own, one native listener, one component.

use callgate_tests::built::{embedding, guest};
use callgate_tests::wire::{Revision, Wire};
use serde_json::json;

#[tokio::test]
async fn g2_b2_e1_a_host_project_governs_its_own_tools() {
    let mut wire = Wire::start(&[embedding().into(), guest("puppet").into()]);
    let revision = Revision::November2025;
    wire.begin(revision).await;
    let listed = wire.answer(&revision.list(1)).await;
    let names: Vec<_> = listed["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["show_points", "add_points"], "only administrators see the third");

    for (id, tool, arguments, answer) in [
        (2, "add_points", json!({ "points": 5 }), json!({ "content": [{ "type": "text", "text": "5" }] })),
        (3, "add_points", json!({ "points": 500 }), error("At most 100 points can be added at once.")),
        (4, "add_points", json!({}), error("Error: Missing required argument 'points'.")),
        (5, "show_points", json!({}), json!({ "content": [{ "type": "text", "text": "5" }] })),
    ] {
        assert_eq!(wire.answer(&revision.call(id, tool, &arguments)).await["result"], answer);
    }
    let hidden = wire.answer(&revision.call(6, "reset_points", &json!({}))).await;
    assert_eq!(hidden["error"]["message"], "Error: Unknown tool 'reset_points'.");
    wire.close().await;
}

fn error(text: &str) -> serde_json::Value {
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}
