use std::sync::{Arc, OnceLock};

use callgate_core::binding::{ArgumentType, Parameter};
use callgate_core::permissions::Permissions;
use callgate_core::registry::{Exposure, Tool};
use callgate_core::state::MemoryState;
use callgate_core::testing::{self, Scripted};
use callgate_core::{Caller, Dispatcher, NativeTool, Rules, StateStore, Subscription, ToolRegistry, Verdict};
use callgate_tests::host::{self, Component};
use callgate_tests::wire::{Revision, Wire};
use serde_json::{Value, json};

use super::{ERAS, INTERNAL, NAMELESS, NOT_VERIFIED, protocol_error, tool_result, unknown};

/// What the function of `pay` takes, and callers must not hear of.
#[derive(serde::Deserialize)]
struct Money {
    #[serde(rename = "cents")]
    _cents: u64,
}

fn tools() -> Vec<Tool> {
    let redeem = NativeTool::new("redeem", [Parameter::new("idReward", ArgumentType::Int)], |arguments| async move {
        Ok(json!(arguments.get::<i64>("idReward")?))
    });
    let pay = NativeTool::new("pay", [Parameter::of::<Money>("amount")], |_| async { Ok("paid".into()) });
    let drifted =
        NativeTool::new("drifted", [Parameter::new("idReward", ArgumentType::Int)], |_| async { Ok("never".into()) });
    let raises = NativeTool::new("raises", [], |_| async { Err("/srv/secret.rs: DatabaseError".into()) });
    let panics = NativeTool::new("panics", [], |_| async { panic!("in the tool") });
    let redeem = redeem.required("idReward", ArgumentType::Int);
    let inner = redeem.clone();
    let outer = NativeTool::new("outer", [Parameter::new("idReward", ArgumentType::String)], move |_| {
        let inner = inner.clone();
        async move {
            inner.run(&callgate_core::Json::empty_object()).await?;
            Ok(Value::Null)
        }
    });
    let fine = |name: &str| NativeTool::new(name, [], |_| async { Ok("ran".into()) });
    [
        redeem,
        outer.required("idReward", ArgumentType::String),
        pay.required("amount", ArgumentType::Internal("Money".into())),
        drifted.required("rewardId", ArgumentType::Int),
        raises,
        panics,
        fine("trapped"),
        fine("withheld").exposure(Exposure::Withheld),
        fine("for_others").method("points/reset", "administration"),
    ]
    .map(Tool::from)
    .into_iter()
    .chain(typed())
    .collect()
}

const TYPES: [(&str, ArgumentType, &str); 6] = [
    ("string", ArgumentType::String, "1"),
    ("int", ArgumentType::Int, "1.5"),
    ("float", ArgumentType::Float, "\"1\""),
    ("bool", ArgumentType::Bool, "0"),
    ("array", ArgumentType::Array, "{}"),
    ("object", ArgumentType::Object, "[]"),
];

/// A tool `takes_TYPE` for each type, and one whose argument may be anything but what its function can read.
fn typed() -> impl Iterator<Item = Tool> {
    let mixed = NativeTool::new("takes_mixed", [Parameter::of::<Money>("value")], |_| async { Ok("never".into()) });
    let typed = TYPES.into_iter().map(|(name, kind, _)| {
        let parameter = Parameter::new("value", kind.clone());
        NativeTool::new(format!("takes_{name}"), [parameter], |_| async { Ok("never".into()) }).required("value", kind)
    });
    typed.chain([mixed.required("value", ArgumentType::Any)]).map(Tool::from)
}

async fn dispatcher(listeners: Vec<Subscription>) -> Dispatcher {
    let state: Arc<dyn StateStore> = Arc::new(MemoryState::default());
    let traps =
        Component::named("puppet").configured("tools", json!(["trapped"])).configured("before-call", json!("trap"));
    let broken = Component::named("puppet").configured("callers", json!(["eve"])).configured("grant", json!("trap"));
    let mut all = vec![traps.over(&state).await, broken.over(&state).await];
    all.extend(listeners);
    let mut permissions = Permissions::default();
    permissions.permit("administration", "points/reset", ["admin"]);
    host::dispatcher(tools(), permissions, all)
}

/// A session over native tools, run as that caller.
async fn session(revision: Revision, dispatcher: Dispatcher, caller: Option<Arc<Caller>>) -> Wire {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let server = callgate_mcp::Server {
        dispatcher,
        caller,
        upstreams: Vec::new(),
        native: tools(),
        name: "suite".into(),
        version: "1".into(),
    };
    let (reader, writer) = tokio::io::split(theirs);
    tokio::spawn(async move { callgate_mcp::serve(server, reader, writer, std::future::pending()).await });
    let mut wire = Wire::over(ours);
    wire.begin(revision).await;
    wire
}

fn ada() -> Option<Arc<Caller>> {
    Some(testing::caller("ada", &["writer"]))
}

#[tokio::test]
async fn e_table_an_argument_that_the_tool_can_not_use_is_named() {
    for revision in ERAS {
        let mut wire = session(revision, dispatcher(Vec::new()).await, ada()).await;
        let mut rows = vec![
            ("redeem", "{}".to_owned(), "Error: Missing required argument 'idReward'.".to_owned()),
            (
                "redeem",
                r#"{"idReward":"x"}"#.into(),
                "Error: Invalid value for argument 'idReward': expected int.".into(),
            ),
            (
                "redeem",
                r#"{"idReward":null}"#.into(),
                "Error: Invalid value for argument 'idReward': expected int.".into(),
            ),
            ("pay", r#"{"amount":{"euros":1}}"#.into(), "Error: Invalid value for argument 'amount'.".into()),
            ("drifted", r#"{"rewardId":1}"#.into(), "Error: Unknown argument 'rewardId'.".into()),
            (
                "takes_mixed",
                r#"{"value":1}"#.into(),
                "Error: Invalid value for argument 'value': expected mixed.".into(),
            ),
        ];
        let tools: Vec<_> = TYPES.iter().map(|(name, _, wrong)| (format!("takes_{name}"), *name, *wrong)).collect();
        rows.extend(tools.iter().map(|(tool, name, wrong)| {
            let text = format!("Error: Invalid value for argument 'value': expected {name}.");
            (tool.as_str(), format!(r#"{{"value":{wrong}}}"#), text)
        }));
        for (id, (tool, arguments, text)) in (1..).zip(rows) {
            let arguments: Value = serde_json::from_str(&arguments).unwrap();
            assert_eq!(wire.answer(&revision.call(id, tool, &arguments)).await, tool_result(revision, id, &text));
        }
    }
}

#[tokio::test]
async fn e_table_what_fails_inside_is_one_text() {
    for revision in ERAS {
        let mut wire = session(revision, dispatcher(Vec::new()).await, ada()).await;
        // The third is the same failure as a missing argument, raised by a call that the tool makes itself (E1).
        let rows =
            [("raises", json!({})), ("panics", json!({})), ("outer", json!({"idReward": "x"})), ("trapped", json!({}))];
        for (id, (tool, arguments)) in (1..).zip(rows) {
            assert_eq!(wire.answer(&revision.call(id, tool, &arguments)).await, tool_result(revision, id, INTERNAL));
        }
    }
}

#[tokio::test]
async fn e_table_what_does_not_exist_for_a_caller_is_one_text() {
    for revision in ERAS {
        let mut wire = session(revision, dispatcher(Vec::new()).await, ada()).await;
        for (id, name) in (1..).zip(["withheld", "for_others", "no such tool", "'"]) {
            assert_eq!(wire.answer(&revision.call(id, name, &json!({}))).await, protocol_error(id, &unknown(name)));
        }
        for (id, params) in
            (10..).zip([json!({}), json!({"name": ""}), json!({"name": ["redeem"]}), json!({"name": 1.5})])
        {
            let request = revision.request(id, "tools/call", params);
            assert_eq!(wire.answer(&request).await, protocol_error(id, NAMELESS));
        }
        let mut nobodys = session(revision, dispatcher(Vec::new()).await, None).await;
        let request = revision.call(1, "redeem", &json!({"idReward": 1}));
        assert_eq!(nobodys.answer(&request).await, protocol_error(1, &unknown("redeem")));
    }
}

#[tokio::test]
async fn e_table_a_gate_that_failed_says_nothing_about_what_exists() {
    for revision in ERAS {
        let eve = Some(testing::caller("eve", &["writer"]));
        let mut wire = session(revision, dispatcher(Vec::new()).await, eve).await;
        for (id, name) in (1..).zip(["redeem", "withheld", "no such tool"]) {
            assert_eq!(
                wire.answer(&revision.call(id, name, &json!({}))).await,
                tool_result(revision, id, NOT_VERIFIED)
            );
        }
    }
}

#[tokio::test]
async fn e_table_g8_a_tool_that_is_withdrawn_meanwhile_is_unknown() {
    for revision in ERAS {
        let rules: Arc<OnceLock<Arc<Rules>>> = Arc::default();
        let meanwhile = rules.clone();
        let withdraws = Scripted::default().on_before_call(move |_| {
            meanwhile.get().unwrap().replace_registry(ToolRegistry::default());
            Ok(Verdict::Proceed)
        });
        let dispatcher = dispatcher(vec![testing::subscription("withdraws", Arc::new(withdraws))]).await;
        rules.set(dispatcher.rules().clone()).unwrap();
        let mut wire = session(revision, dispatcher, ada()).await;
        let request = revision.call(1, "redeem", &json!({"idReward": 1}));
        assert_eq!(wire.answer(&request).await, protocol_error(1, &unknown("redeem")));
    }
}

#[tokio::test]
async fn e2_an_argument_that_is_not_declared_is_not_sent_and_does_no_harm() {
    for revision in ERAS {
        let mut wire = session(revision, dispatcher(Vec::new()).await, ada()).await;
        let answer = wire.answer(&revision.call(1, "redeem", &json!({"idReward": 7.0, "other": [1]}))).await;
        assert_eq!(answer["result"]["content"], json!([{"type": "text", "text": "7"}]));
        assert!(answer["result"].get("isError").is_none());
    }
}
