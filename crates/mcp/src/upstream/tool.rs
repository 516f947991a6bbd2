//! A tool of an upstream, as the dispatcher runs it.

use std::sync::Arc;

use async_trait::async_trait;
use callgate_core::report::{Completion, Dispatch};
use callgate_core::tool::{ReplyBody, ToolFailure, ToolProvider, ToolReply};
use callgate_core::{GrantedCall, Json};

use super::connection::{Connection, Lost, OnDrop};
use crate::convert::completion;
use crate::edit;
use crate::envelope::{self, Id, Payload};

/// Forwards calls to a tool of an upstream.
#[derive(Debug)]
pub struct UpstreamTool {
    connection: Arc<Connection>,
    name: String,
}

impl UpstreamTool {
    /// The tool that the upstream itself calls `name`.
    pub fn new(connection: Arc<Connection>, name: impl Into<String>) -> Self {
        Self { connection, name: name.into() }
    }

    /// The message to forward and its id: the client's own, where the call came in one.
    fn message(&self, call: &GrantedCall) -> (Id, Json, Origin) {
        let client = call.wire().and_then(|line| {
            let id = edit::get(line.as_str(), &["id"]).and_then(Id::read)?;
            Some((id, line.clone()))
        });
        let (id, line, origin) = client.map_or_else(
            || {
                let id = self.connection.own_id();
                let line = envelope::request(Some(&id), "tools/call", Some(call.params().as_str()));
                (id, line, Origin::Library)
            },
            |(id, line)| (id, line, Origin::Client),
        );
        (id, as_judged(&line, &self.name, call.arguments()), origin)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Client,
    Library,
}

/// The message with that name and those arguments. It stays as it is where it has them already.
// INVARIANT: the name and the arguments that the upstream reads are those that listeners were asked about (W2).
fn as_judged(line: &Json, name: &str, arguments: &Json) -> Json {
    let mut text = line.as_str().to_owned();
    let named = edit::get(&text, &["params", "name"]).and_then(|sent| serde_json::from_str::<String>(sent).ok());
    if named.as_deref() != Some(name) {
        text = edit::set(&text, &["params", "name"], Json::string(name).as_str());
    }
    // Arguments that were not sent count as an empty object, and mean that to the upstream as well.
    if edit::get(&text, &["params", "arguments"]).is_some_and(|sent| sent != arguments.as_str()) {
        text = edit::set(&text, &["params", "arguments"], arguments.as_str());
    }
    Json::parse(&text).unwrap_or_else(|_| line.clone())
}

#[async_trait]
impl ToolProvider for UpstreamTool {
    async fn call(&self, call: &GrantedCall) -> Result<ToolReply, ToolFailure> {
        let (id, line, origin) = self.message(call);
        let lost = |lost: Lost| {
            let dispatch = match lost {
                Lost::BeforeSending(_) => Dispatch::None,
                Lost::AfterSending(_) => Dispatch::Unknown,
            };
            ToolFailure::Upstream { detail: lost.to_string(), dispatch }
        };
        let response = self.connection.request(&id, line, OnDrop::Cancel).map_err(lost)?.await.map_err(lost)?;
        let (body, completion) = match response.payload {
            Payload::Result(result) => (ReplyBody::Result(result.clone()), completion(&result)),
            Payload::Error(error) => (ReplyBody::Error(error), Completion::Complete),
        };
        let message = (origin == Origin::Client).then_some(response.line);
        Ok(ToolReply { body, completion, message })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(line: &str, name: &str, arguments: &str) -> String {
        let json = |text| Json::parse(text).unwrap();
        as_judged(&json(line), name, &json(arguments)).to_string()
    }

    #[test]
    fn w2_a_message_that_says_what_was_judged_keeps_every_byte() {
        for line in [
            r#"{ "id":1,"params": {"arguments":{ "a":1.0e0 } , "x":[ ],"name":"r\u0065ad" } }"#,
            r#"{"id":1,"params":{"name":"read"}}"#,
        ] {
            let arguments = edit::get(line, &["params", "arguments"]).unwrap_or("{}");
            assert_eq!(judged(line, "read", arguments), line);
        }
    }

    #[test]
    fn w2_n1_n2_what_was_read_differently_is_forwarded_as_it_was_read() {
        assert_eq!(
            judged(r#"{"id":1,"params":{"name":7, "arguments":[1], "x":1.0}}"#, "7", "{}"),
            r#"{"id":1,"params":{"name":"7", "arguments":{}, "x":1.0}}"#
        );
        assert_eq!(
            judged(r#"{"params":{"arguments":null,"name":"files__read"}}"#, "read", "{}"),
            r#"{"params":{"arguments":{},"name":"read"}}"#
        );
    }
}
