//! For fuzz targets alone: edits of messages, which nobody else makes from outside.

use callgate_core::Json;

use crate::era::Era;
use crate::{convert, edit, tasks};

/// The value at `path`.
pub fn get<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
    edit::get(text, path)
}

/// `text` with the value at `path` replaced or added.
pub fn set(text: &str, path: &[&str], value: &str) -> String {
    edit::set(text, path, value)
}

/// `text` without the member at `path`.
pub fn remove(text: &str, path: &[&str]) -> String {
    edit::remove(text, path)
}

/// A client's request that asks for no task and declares no support for them.
pub fn without_tasks(line: &Json, method: &str) -> Json {
    tasks::taken_out_of_request(line, method)
}

/// A result that does not come from an upstream, as it goes over the wire in that era.
pub fn own_result(result: Json, era: Era) -> Json {
    convert::own_result(result, era)
}
