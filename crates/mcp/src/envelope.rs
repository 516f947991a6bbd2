//! JSON-RPC messages as text: what a message is gets read, and its line stays as its sender wrote it.

mod id;
mod read;
mod write;

use callgate_core::Json;

pub use id::{Id, OWN_PREFIX};
pub(crate) use read::fold;
pub use read::{Rejection, read_client, read_upstream};
pub use write::{error, request, result, with_error};

/// One JSON-RPC message.
#[derive(Clone, Debug)]
pub enum Message {
    /// Expects a response.
    Request(Request),
    /// Expects none.
    Notification(Notification),
    /// Answers a request.
    Response(Response),
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// What the response is matched by.
    pub id: Id,
    /// What is asked.
    pub method: String,
    /// The whole message.
    pub line: Json,
}

/// A notification.
#[derive(Clone, Debug)]
pub struct Notification {
    /// What is told.
    pub method: String,
    /// The whole message.
    pub line: Json,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Response {
    /// The request that it answers.
    pub id: Id,
    /// Its content.
    pub payload: Payload,
    /// The whole message.
    pub line: Json,
}

/// What a response says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// The `result` member.
    Result(Json),
    /// The `error` member.
    Error(Json),
}

/// Error codes of JSON-RPC that the gateway answers with.
pub mod code {
    /// Not JSON.
    pub const PARSE: i32 = -32700;
    /// Not a message that may be read in one way only.
    pub const INVALID_REQUEST: i32 = -32600;
    /// No such method.
    pub const METHOD_NOT_FOUND: i32 = -32601;
    /// Parameters that the method does not take.
    pub const INVALID_PARAMS: i32 = -32602;
    /// The gateway or an upstream can't answer.
    pub const INTERNAL: i32 = -32603;
    /// A protocol revision that is not spoken.
    pub const UNSUPPORTED_VERSION: i32 = -32022;
}

/// The raw value of the `params` member of a message.
pub fn params(line: &Json) -> Option<&str> {
    crate::edit::get(line.as_str(), &["params"])
}
