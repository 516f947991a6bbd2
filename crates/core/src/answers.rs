//! What a listener may answer with: a valid, complete tool result that keeps the tool's promises (B5).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tokio::sync::{Semaphore, oneshot};

use crate::failure::InvalidDecision;
use crate::grant::GrantedCall;
use crate::json::{Json, members};
use crate::request::Round;

/// How many answers may be checked against schemas at once. A schema comes from an upstream, and one that is made to take for
/// ever keeps the thread that checks it.
static CHECKS: Semaphore = Semaphore::const_new(8);

/// A tool's output schema, compiled when the first answer is checked and never for a grant decision (G1).
#[derive(Clone, Debug)]
pub(crate) struct OutputSchema(Option<Arc<Schema>>);

#[derive(Debug)]
struct Schema {
    text: Json,
    compiled: OnceLock<Result<jsonschema::Validator, String>>,
    /// A check did not end in its time: it is not tried again.
    endless: AtomicBool,
}

/// Notes that a check was given up, where it is dropped before it ended.
struct Unfinished<'s>(Option<&'s Schema>);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(schema) = self.0 {
            schema.endless.store(true, Ordering::Relaxed);
        }
    }
}

impl OutputSchema {
    /// The `outputSchema` of a tool's definition.
    pub(crate) fn of(definition: &Json) -> Self {
        let text = members(definition.as_str()).and_then(|members| members.get("outputSchema").map(Json::from));
        let schema = |text| Arc::new(Schema { text, compiled: OnceLock::new(), endless: AtomicBool::new(false) });
        Self(text.map(schema))
    }

    /// Checks away from the threads of the runtime, so that the deadline of whoever answered holds also where the schema
    /// takes for ever.
    async fn check(&self, structured: Option<Value>) -> Result<(), String> {
        let Some(schema) = &self.0 else { return Ok(()) };
        let structured = structured.ok_or("structuredContent is missing")?;
        if schema.endless.load(Ordering::Relaxed) {
            return Err("the schema can not be used: it takes too long".into());
        }
        let permit = CHECKS.acquire().await.map_err(|error| error.to_string())?;
        let mut unfinished = Unfinished(Some(schema));
        let (tell, told) = oneshot::channel();
        let checking = schema.clone();
        // A thread of its own and not one of the runtime's, which would wait for it at its end.
        std::thread::spawn(move || {
            let _permit = permit;
            let _ = tell.send(checking.check(&structured));
        });
        let checked = told.await;
        unfinished.0 = None;
        checked.map_err(|error| error.to_string())?
    }
}

impl Schema {
    fn check(&self, structured: &Value) -> Result<(), String> {
        let compiled = self.compiled.get_or_init(|| {
            let schema = serde_json::from_str(self.text.as_str()).map_err(|error| error.to_string())?;
            jsonschema::validator_for(&schema).map_err(|error| error.to_string())
        });
        let validator = compiled.as_ref().map_err(|error| format!("the schema can not be used: {error}"))?;
        validator.validate(structured).map_err(|error| error.to_string())
    }
}

/// Checks a listener's answer to a call.
///
/// # Errors
/// When it is no complete tool result, when it breaks the tool's output schema without saying `isError`, or when the call
/// is a continuation, which no store can know the answer to (W4).
pub(crate) async fn check(call: &GrantedCall, answer: &Json) -> Result<(), InvalidDecision> {
    if call.context().round == Round::Continuation {
        return Err(InvalidDecision::ContinuationAnswered);
    }
    let result = tool_result(answer).map_err(|fault| InvalidDecision::NotAToolResult(fault.into()))?;
    if result.get("isError") == Some(&Value::Bool(true)) {
        return Ok(());
    }
    let structured = result.get("structuredContent").cloned();
    call.tool().output_schema().check(structured).await.map_err(InvalidDecision::OutputSchema)
}

/// Reads a text as a complete tool result of the protocol: an object with `content`, each block of it an object with a
/// `type` and what that type needs. Members that the protocol does not know are fine.
fn tool_result(answer: &Json) -> Result<Value, &'static str> {
    crate::json::scan(answer.as_str()).map_err(|_| "it can be read in two ways")?;
    let result: Value = serde_json::from_str(answer.as_str()).map_err(|_| "it holds a number that nobody can read")?;
    let members = result.as_object().ok_or("it is no object")?;
    let content = members.get("content").and_then(Value::as_array).ok_or("content is no array")?;
    if !content.iter().all(valid_block) {
        return Err("a content block is not valid");
    }
    if members.get("isError").is_some_and(|flag| !flag.is_boolean()) {
        return Err("isError is no boolean");
    }
    if members.get("_meta").is_some_and(|meta| !meta.is_object()) {
        return Err("_meta is no object");
    }
    if members.get("resultType").is_some_and(|kind| kind != "complete") {
        return Err("it is not complete");
    }
    Ok(result)
}

fn valid_block(block: &Value) -> bool {
    let text = |key: &str| block.get(key).is_some_and(Value::is_string);
    match block.get("type").and_then(Value::as_str) {
        Some("text") => text("text"),
        Some("image" | "audio") => text("data") && text("mimeType"),
        Some("resource_link") => text("uri") && text("name"),
        Some("resource") => block.get("resource").is_some_and(|resource| {
            let part = |key: &str| resource.get(key).is_some_and(Value::is_string);
            part("uri") && (part("text") || part("blob"))
        }),
        // A type that a later revision of the protocol brings.
        Some(_) => true,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    async fn verdict(call: &GrantedCall, answer: &str) -> Result<(), InvalidDecision> {
        check(call, &Json::parse(answer).unwrap()).await
    }

    #[tokio::test]
    async fn b5_a_tool_result_is_an_answer() {
        let call = testing::granted_call("read", "{}");
        for answer in [
            r#"{"content":[]}"#,
            r#"{"content":[{"type":"text","text":"hi","future":1}],"isError":false,"_meta":{},"x":[1.0]}"#,
            r#"{"content":[{"type":"image","data":"","mimeType":"image/png"}],"resultType":"complete"}"#,
            r#"{"content":[{"type":"resource","resource":{"uri":"a:b","text":""}}]}"#,
            r#"{"content":[{"type":"resource","resource":{"uri":"a:b","blob":""}}]}"#,
            r#"{"content":[{"type":"resource_link","uri":"a:b","name":"n"}],"structuredContent":[1]}"#,
            r#"{"content":[{"type":"hologram"}],"isError":true}"#,
        ] {
            assert_eq!(verdict(&call, answer).await, Ok(()), "{answer}");
        }
    }

    #[tokio::test]
    async fn b5_what_is_no_complete_tool_result_is_a_failure() {
        let call = testing::granted_call("read", "{}");
        for answer in [
            "1",
            "[]",
            "{}",
            r#"{"content":{}}"#,
            r#"{"content":["hi"]}"#,
            r#"{"content":[{"text":"hi"}]}"#,
            r#"{"content":[{"type":"text"}]}"#,
            r#"{"content":[{"type":"image","data":""}]}"#,
            r#"{"content":[{"type":"audio","mimeType":"a/b"}]}"#,
            r#"{"content":[{"type":"resource_link","uri":"a:b"}]}"#,
            r#"{"content":[{"type":"resource_link","name":"n"}]}"#,
            r#"{"content":[{"type":"resource","resource":{"uri":"a:b"}}]}"#,
            r#"{"content":[{"type":"resource","resource":{"text":""}}]}"#,
            r#"{"content":[],"isError":"no"}"#,
            r#"{"content":[],"_meta":[]}"#,
            r#"{"content":[],"resultType":"input_required"}"#,
            r#"{"content":[],"content":[]}"#,
            r#"{"content":[],"x":1e999}"#,
            r#"{"$serde_json::private::RawValue":"{\"content\":[]}"}"#,
        ] {
            assert!(matches!(verdict(&call, answer).await, Err(InvalidDecision::NotAToolResult(_))), "{answer}");
        }
    }

    #[tokio::test]
    async fn b5_an_answer_keeps_the_output_schema_unless_it_is_an_error() {
        let call = testing::granted_call_of(
            testing::tool_with_definition(
                "count",
                r#"{"name":"count","outputSchema":{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}}"#,
            ),
            "{}",
        );
        assert_eq!(verdict(&call, r#"{"content":[],"structuredContent":{"n":1}}"#).await, Ok(()));
        assert_eq!(verdict(&call, r#"{"content":[],"isError":true}"#).await, Ok(()));
        for answer in [
            r#"{"content":[]}"#,
            r#"{"content":[],"isError":false,"structuredContent":{"n":"1"}}"#,
            r#"{"content":[],"structuredContent":{}}"#,
        ] {
            assert!(matches!(verdict(&call, answer).await, Err(InvalidDecision::OutputSchema(_))), "{answer}");
        }
    }

    #[tokio::test]
    async fn b5_a_schema_that_can_not_be_used_proves_nothing() {
        let call = testing::granted_call_of(
            testing::tool_with_definition("count", r#"{"name":"count","outputSchema":{"type":7}}"#),
            "{}",
        );
        let answer = r#"{"content":[],"structuredContent":{}}"#;
        assert!(matches!(verdict(&call, answer).await, Err(InvalidDecision::OutputSchema(_))));
    }

    #[tokio::test]
    async fn w4_a_continuation_is_never_answered() {
        let call = testing::continuation_of("read", "{}");
        assert_eq!(verdict(&call, r#"{"content":[]}"#).await, Err(InvalidDecision::ContinuationAnswered));
    }

    #[tokio::test]
    async fn f1_f2_a_schema_that_takes_for_ever_holds_up_one_answer_and_nothing_else() {
        let doubled: Vec<_> = (0..60)
            .map(|n| format!(r##""d{n}":{{"allOf":[{{"$ref":"#/$defs/d{0}"}},{{"$ref":"#/$defs/d{0}"}}]}}"##, n + 1))
            .collect();
        let schema =
            format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d60":{{"type":"object"}}}}}}"##, doubled.join(","));
        let definition = format!(r#"{{"name":"count","outputSchema":{schema}}}"#);
        let call = testing::granted_call_of(testing::tool_with_definition("count", &definition), "{}");
        let answer = r#"{"content":[],"structuredContent":{}}"#;
        let late = tokio::time::timeout(std::time::Duration::from_millis(50), verdict(&call, answer)).await;
        assert!(late.is_err(), "the runtime's own thread is free to see that the time is over");
        let reason = "the schema can not be used: it takes too long".to_owned();
        assert_eq!(verdict(&call, answer).await, Err(InvalidDecision::OutputSchema(reason)), "it is not tried again");
    }
}
