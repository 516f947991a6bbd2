//! N: what a caller sent is read so that it never raises, and bounded before any listener sees it.

use callgate_core::request::{CallRequest, Round};
use callgate_core::testing::Scripted;
use callgate_core::{Json, Outcome, Refusal, Verdict};

use crate::support::{Host, ada, saying};

fn with_params(params: &str) -> CallRequest {
    CallRequest { caller: ada(), params: Json::parse(params).unwrap(), round: Round::First, wire: None }
}

#[tokio::test]
async fn n1_without_a_usable_name_no_hook_runs() {
    let listener = std::sync::Arc::new(
        Scripted::default()
            .on_grant(|_| panic!("the grant hook ran"))
            .on_before_call(|_| panic!("the before-call hook ran"))
            .on_after_call(|_| panic!("the after-call hook ran")),
    );
    let host = Host::new([listener.clone()]);
    for params in ["null", "{}", r#"{"name":""}"#, r#"{"name":1.5}"#, r#"{"name":null,"arguments":{}}"#] {
        let outcome = host.dispatcher.call(with_params(params)).await;
        assert_eq!(outcome, Outcome::Refused(Refusal::ToolNameRequired), "{params}");
    }
    assert_eq!((listener.asked(), listener.reports().len(), host.tool.calls()), (0, 0, 0));
}

#[tokio::test]
async fn n1_an_integer_is_the_name_that_its_decimal_string_is() {
    let host = Host::new([]);
    let outcome = host.dispatcher.call(with_params(r#"{"name":-7}"#)).await;
    assert_eq!(outcome, Outcome::Refused(Refusal::UnknownTool("-7".into())));
}

#[tokio::test]
async fn n2_arguments_that_are_no_object_reach_listeners_and_the_tool_as_an_empty_one() {
    let listener = saying(Ok(Verdict::Proceed));
    let host = Host::new([listener.clone()]);
    for arguments in ["null", "7", "[1]", "\"{}\""] {
        host.dispatcher.call(with_params(&format!(r#"{{"name":"write","arguments":{arguments}}}"#))).await;
    }
    host.dispatcher.call(with_params(r#"{"name":"write"}"#)).await;
    assert!(host.tool.arguments().iter().all(|arguments| arguments.as_str() == "{}"));
    assert!(listener.before().iter().all(|call| call.arguments.as_str() == "{}"));
    assert_eq!((host.tool.calls(), listener.before().len()), (5, 5));
}

#[tokio::test]
async fn n3_n4_listeners_see_a_bounded_meta_and_how_much_of_it_is_missing() {
    let listener = saying(Ok(Verdict::Proceed));
    let host = Host::new([listener.clone()]);
    host.dispatcher.call(with_params(r#"{"name":"write","_meta":[1]}"#)).await;
    host.dispatcher.call(with_params(r#"{"name":"write","_meta":{"a": [ 1e2 ],"deep":[[[[[]]]]]}}"#)).await;

    let seen = listener.before();
    assert_eq!((seen[0].meta.entries().len(), seen[0].meta.dropped()), (0, 0));
    assert_eq!((seen[1].meta.get("a").unwrap().as_str(), seen[1].meta.dropped()), ("[1e2]", 1));
    assert_eq!(seen[1].meta, listener.reports()[1].call.meta);
}
