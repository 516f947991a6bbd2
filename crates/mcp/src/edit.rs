//! Surgery on JSON text: one member is changed, and every other byte stays what its author wrote (W2).

#[cfg(test)]
mod tests;

use std::ops::Range;

use callgate_core::json::members;
use serde_json::value::RawValue;

/// `text` with the value at `path` replaced, or added at the end of the object that should hold it. As it was where that
/// object does not exist.
pub(crate) fn set(text: &str, path: &[&str], value: &str) -> String {
    let Some((key, parents)) = path.split_last() else { return value.to_owned() };
    let Some(object) = find(text, parents) else { return text.to_owned() };
    let Some(entries) = entries(text, &object) else { return text.to_owned() };
    if let Some(entry) = entries.iter().rev().find(|entry| entry.key == *key) {
        return splice(text, entry.value.clone(), value);
    }
    let member = format!("{}:{value}", serde_json::Value::from(*key));
    match entries.last() {
        Some(last) => splice(text, last.value.end..last.value.end, &format!(",{member}")),
        None => splice(text, object.start + 1..object.start + 1, &member),
    }
}

/// `text` without the member at `path`, however often it stands there.
pub(crate) fn remove(text: &str, path: &[&str]) -> String {
    let mut text = text.to_owned();
    while let Some(cut) = member(&text, path) {
        text = splice(&text, cut, "");
    }
    text
}

/// Where the value at `path` stands in `text`.
pub(crate) fn find(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let mut value = text;
    for key in path {
        value = members(value)?.get(key)?.get();
    }
    Some(if path.is_empty() { 0..text.len() } else { range(text, value) })
}

/// The value at `path`.
pub(crate) fn get<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
    text.get(find(text, path)?)
}

struct Entry {
    key: String,
    value: Range<usize>,
}

/// The members of the object that stands at `object` in `text`.
fn entries(text: &str, object: &Range<usize>) -> Option<Vec<Entry>> {
    let members = members(text.get(object.clone())?)?;
    Some(members.iter().map(|(key, value)| Entry { key: key.to_owned(), value: span(text, value) }).collect())
}

/// The bytes to cut so that the member at `path` is gone, one comma with it.
fn member(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let (key, parents) = path.split_last()?;
    let object = find(text, parents)?;
    let entries = entries(text, &object)?;
    let index = entries.iter().rposition(|entry| entry.key == *key)?;
    let end = entries.get(index)?.value.end;
    Some(match index.checked_sub(1).and_then(|before| entries.get(before)) {
        Some(before) => before.value.end..end,
        None if entries.len() > 1 => object.start + 1..next_item(text, end),
        None => object.start + 1..end,
    })
}

/// Where the item after the comma at or behind `end` begins.
fn next_item(text: &str, end: usize) -> usize {
    let rest = text.get(end..).unwrap_or_default();
    let tail = rest.trim_start_matches([' ', '\t', '\n', '\r']);
    let tail = tail.strip_prefix(',').unwrap_or(tail).trim_start_matches([' ', '\t', '\n', '\r']);
    text.len() - tail.len()
}

fn span(text: &str, value: &RawValue) -> Range<usize> {
    range(text, value.get())
}

/// Where a slice of `text` stands in it.
fn range(text: &str, slice: &str) -> Range<usize> {
    let start = (slice.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + slice.len()
}

fn splice(text: &str, cut: Range<usize>, insert: &str) -> String {
    let before = text.get(..cut.start).unwrap_or_default();
    let after = text.get(cut.end..).unwrap_or_default();
    [before, insert, after].concat()
}
