//! Reading a line so that no two parsers can read it as two different messages (N5, W3).

#[cfg(test)]
mod tests;

use callgate_core::Json;
use callgate_core::json::{Members, ScanError, members, scan};

use super::{Id, Message, Notification, Payload, Request, Response, code};

/// Members whose names a lenient parser could take from a key that differs in case only.
const KNOWN: [&str; 10] =
    ["jsonrpc", "id", "method", "params", "name", "arguments", "_meta", "task", "requestState", "inputResponses"];

/// Why a line is answered with an error and goes no further.
#[derive(Clone, Debug)]
pub struct Rejection {
    /// The id of the request, where one could be read.
    pub id: Option<Id>,
    /// The error's code.
    pub code: i32,
    /// The error's message.
    pub message: String,
}

impl Rejection {
    /// An error response that says so.
    pub fn response(&self) -> Json {
        super::error(self.id.as_ref(), self.code, &self.message)
    }
}

/// Reads a line from a client.
///
/// # Errors
/// When the line is no JSON document, no single JSON-RPC message, or could be read in two ways.
pub fn read_client(line: &[u8]) -> Result<Message, Rejection> {
    let reject = |code, id, message: &str| Rejection { id, code, message: message.to_owned() };
    let text = std::str::from_utf8(line).map_err(|_| reject(code::PARSE, None, "not UTF-8"))?;
    match scan(text) {
        Ok(()) => {}
        Err(error @ ScanError::Syntax) => return Err(reject(code::PARSE, None, &error.to_string())),
        Err(error) => return Err(reject(code::INVALID_REQUEST, readable_id(text), &error.to_string())),
    }
    let document = Json::parse(text).map_err(|_| reject(code::PARSE, None, "not a JSON document"))?;
    let Some(members) = members(document.as_str()) else {
        return Err(reject(code::INVALID_REQUEST, None, "a message is one JSON object"));
    };
    let id = members.get("id").and_then(|id| Id::read(id.get()));
    read_members(&document, &members, id.clone())
        .map_err(|message| reject(code::INVALID_REQUEST, id.filter(|id| !id.is_own()), &message))
}

fn read_members(document: &Json, members: &Members<'_>, id: Option<Id>) -> Result<Message, String> {
    no_lookalikes(members)?;
    if members.get("jsonrpc").is_none_or(|version| version.get() != "\"2.0\"") {
        return Err("jsonrpc must be \"2.0\"".to_owned());
    }
    if members.get("id").is_some() && id.is_none() {
        return Err("an id is a string or an integer".to_owned());
    }
    let Some(method) = members.get("method") else {
        return response(document, members, id).map(Message::Response);
    };
    let method: String = serde_json::from_str(method.get()).map_err(|_| "a method is a string")?;
    if members.get("result").is_some() || members.get("error").is_some() {
        return Err("a message is a request or a response, not both".to_owned());
    }
    if let Some(params) = members.get("params").and_then(|params| callgate_core::json::members(params.get())) {
        no_lookalikes(&params)?;
    }
    let line = document.clone();
    Ok(match id {
        Some(id) if id.is_own() => return Err(format!("ids that begin with {} are taken", super::OWN_PREFIX)),
        Some(id) => Message::Request(Request { id, method, line }),
        None => Message::Notification(Notification { method, line }),
    })
}

/// Reads a line from an upstream. What an upstream says is passed on as it is, so that less is asked of it: only that it
/// is one message, and that its own members stand in it once.
pub fn read_upstream(line: &[u8]) -> Option<Message> {
    let document = Json::parse(std::str::from_utf8(line).ok()?).ok()?;
    let members = members(document.as_str())?;
    let id = members.get("id").and_then(|id| Id::read(id.get()));
    let mut seen = std::collections::HashSet::new();
    if !members.iter().all(|(key, _)| seen.insert(key)) {
        return None;
    }
    let Some(method) = members.get("method") else {
        return response(&document, &members, id).ok().map(Message::Response);
    };
    let method = serde_json::from_str(method.get()).ok()?;
    let line = document.clone();
    match (id, members.get("id")) {
        (Some(id), _) => Some(Message::Request(Request { id, method, line })),
        (None, None) => Some(Message::Notification(Notification { method, line })),
        (None, Some(_)) => None,
    }
}

fn response(document: &Json, members: &Members<'_>, id: Option<Id>) -> Result<Response, String> {
    let payload = match (members.get("result"), members.get("error")) {
        (Some(result), None) => Payload::Result(result.into()),
        (None, Some(error)) => Payload::Error(error.into()),
        _ => return Err("a message has a method, a result or an error".to_owned()),
    };
    let id = id.ok_or("a response has an id")?;
    Ok(Response { id, payload, line: document.clone() })
}

/// Some parsers match keys without regard to case, and would take `Name` for `name`.
fn no_lookalikes(members: &Members<'_>) -> Result<(), String> {
    for (key, _) in members.iter().filter(|(key, _)| !KNOWN.contains(key)) {
        let folded = fold(key);
        if let Some(known) = KNOWN.iter().find(|known| fold(known) == folded) {
            return Err(format!("'{key}' could be taken for '{known}'"));
        }
    }
    Ok(())
}

/// Case folding as parsers do it: ASCII, and the four other characters that some of them fold into it.
pub(crate) fn fold(key: &str) -> String {
    let fold = |character: char| match character {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        '\u{130}' | '\u{131}' => 'i',
        other => other.to_ascii_lowercase(),
    };
    key.chars().map(fold).collect()
}

/// The id of a message that is refused for another reason, if it stands there once.
fn readable_id(text: &str) -> Option<Id> {
    let members = members(text)?;
    let mut ids = members.iter().filter(|(key, _)| *key == "id");
    let (_, id) = ids.next()?;
    if ids.next().is_some() {
        return None;
    }
    Id::read(id.get()).filter(|id| !id.is_own())
}
