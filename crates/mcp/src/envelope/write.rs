//! Messages that the gateway writes itself.

use callgate_core::Json;
use serde_json::json;
use serde_json::value::RawValue;

use super::Id;

/// A response with that result.
pub fn result(id: &Id, result: &Json) -> Json {
    assemble(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.raw()))
}

/// A response with an error of that code and message; to an unreadable request where there is no id.
pub fn error(id: Option<&Id>, code: i32, message: &str) -> Json {
    with_error(id, &json!({ "code": code, "message": message }).into())
}

/// A response with that `error` member.
pub fn with_error(id: Option<&Id>, error: &Json) -> Json {
    let id = id.map_or("null", |id| id.raw().as_str());
    assemble(format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
}

/// A request of the gateway's own; a notification where there is no id.
pub fn request(id: Option<&Id>, method: &str, params: Option<&str>) -> Json {
    let id = id.map(|id| format!(r#""id":{},"#, id.raw())).unwrap_or_default();
    let params = params.map(|params| format!(r#","params":{params}"#)).unwrap_or_default();
    assemble(format!(r#"{{"jsonrpc":"2.0",{id}"method":{}{params}}}"#, Json::string(method)))
}

/// The text is put together from JSON documents, so it is one.
fn assemble(text: String) -> Json {
    let raw = RawValue::from_string(text).unwrap_or_default();
    Json::from(&*raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_carry_the_id_as_its_sender_spelled_it() {
        let id = Id::read(r#""\u0061""#).unwrap();
        let ok = result(&id, &Json::empty_object());
        assert_eq!(ok.as_str(), r#"{"jsonrpc":"2.0","id":"\u0061","result":{}}"#);
        let refused = error(Some(&id), -32602, "say \"it\"");
        assert_eq!(
            refused.as_str(),
            r#"{"jsonrpc":"2.0","id":"\u0061","error":{"code":-32602,"message":"say \"it\""}}"#
        );
        assert!(error(None, -32700, "x").as_str().contains(r#""id":null"#));
    }

    #[test]
    fn requests_and_notifications_differ_by_their_id() {
        let id = Id::read("1").unwrap();
        assert_eq!(
            request(Some(&id), "tools/list", None).as_str(),
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#
        );
        assert_eq!(
            request(None, "notifications/cancelled", Some("{}")).as_str(),
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}"#
        );
    }
}
