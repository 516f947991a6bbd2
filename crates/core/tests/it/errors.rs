//! E: what the caller sees when something is wrong, by real calls to native tools, to the character.

use std::sync::Arc;

use callgate_core::binding::{ArgumentType, Parameter};
use callgate_core::registry::Tool;
use callgate_core::testing::{self, Scripted, subscription};
use callgate_core::{Dispatcher, NativeTool, Outcome};
use serde_json::Value;

use crate::support::{ada, failure, native};

fn reward() -> NativeTool {
    let parameters = [Parameter::new("idReward", ArgumentType::Int), Parameter::new("note", ArgumentType::String)];
    NativeTool::new("reward", parameters, |arguments| async move {
        Ok(format!("{:?} {:?}", arguments.value("idReward"), arguments.value("note")).into())
    })
    .required("idReward", ArgumentType::Int)
    .default("note", ArgumentType::String, "none")
}

fn tools() -> Vec<Tool> {
    let money = NativeTool::new("pay", [Parameter::of::<std::net::IpAddr>("idReward")], |_| async { Ok(Value::Null) })
        .required("idReward", ArgumentType::Internal("Money".into()));
    let renamed =
        NativeTool::new("renamed", [Parameter::new("idReward", ArgumentType::Int)], |_| async { Ok(Value::Null) })
            .required("rewardId", ArgumentType::Int);
    let raising = NativeTool::new("raising", [], |_| async { Err("/srv/secret.rs:7".into()) });
    let panicking = NativeTool::new("panicking", [], |_| async { panic!("/srv/secret.rs:7") });
    let nested = NativeTool::new("nested", [Parameter::new("idReward", ArgumentType::Int)], |_| async {
        reward().run(&callgate_core::Json::empty_object()).await?;
        Ok(Value::Null)
    })
    .required("idReward", ArgumentType::Int);
    [reward(), money, renamed, raising, panicking, nested, native("write")].map(Tool::from).into()
}

async fn text(dispatcher: &Dispatcher, tool: &str, arguments: &str) -> String {
    match dispatcher.call(testing::request(ada(), tool, arguments)).await {
        Outcome::Refused(refusal) => refusal.to_string(),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn e1_e3_each_row_of_the_table_comes_from_a_real_call() {
    let dispatcher = testing::dispatcher(tools(), vec![]);
    for (tool, arguments, expected) in [
        ("reward", "{}", "Error: Missing required argument 'idReward'."),
        ("reward", r#"{"note":"x"}"#, "Error: Missing required argument 'idReward'."),
        ("reward", r#"{"idReward":"7"}"#, "Error: Invalid value for argument 'idReward': expected int."),
        ("reward", r#"{"idReward":7,"note":8}"#, "Error: Invalid value for argument 'note': expected string."),
        ("pay", r#"{"idReward":"not an address"}"#, "Error: Invalid value for argument 'idReward'."),
        ("renamed", r#"{"rewardId":1}"#, "Error: Unknown argument 'rewardId'."),
        ("raising", "{}", "Error: An internal error occurred while executing the tool."),
        ("panicking", "{}", "Error: An internal error occurred while executing the tool."),
        ("nested", "{}", "Error: Missing required argument 'idReward'."),
        ("nested", r#"{"idReward":7}"#, "Error: An internal error occurred while executing the tool."),
        ("absent", "{}", "Error: Unknown tool 'absent'."),
        ("", "{}", "Error: Tool name is required."),
    ] {
        assert_eq!(text(&dispatcher, tool, arguments).await, expected, "{tool} {arguments}");
    }
    let anonymous = dispatcher.call(testing::request(None, "reward", "{}")).await;
    let Outcome::Refused(refusal) = anonymous else { panic!("{anonymous:?}") };
    assert_eq!(refusal.to_string(), "Error: Unknown tool 'reward'.");

    for (listener, expected) in [
        (Scripted::default().on_grant(|_| Err(failure())), "Error: Tool access could not be verified."),
        (
            Scripted::default().on_before_call(|_| Err(failure())),
            "Error: An internal error occurred while executing the tool.",
        ),
    ] {
        let dispatcher = testing::dispatcher(tools(), vec![subscription("bad", Arc::new(listener))]);
        assert_eq!(text(&dispatcher, "reward", r#"{"idReward":7}"#).await, expected);
    }
}

#[tokio::test]
async fn e2_an_argument_that_is_not_declared_is_not_sent_to_the_tool() {
    let dispatcher = testing::dispatcher(tools(), vec![]);
    let ran = text(&dispatcher, "reward", r#"{"idReward":7,"surprise":true}"#).await;
    assert!(ran.contains(r#"Some(Number(7)) Some(String(\"none\"))"#), "{ran}");
}
