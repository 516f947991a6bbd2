//! One member of a message changes, and nothing else does.

use callgate_core::Json;
use callgate_mcp::{Era, fuzz};

use crate::reading::{Member, Node, read};

/// What is put where something else was.
const VALUE: &str = "[ 1.50 ]";
/// Paths that the gateway edits.
const USUAL: [&[&str]; 5] = [
    &["params", "name"],
    &["params", "task"],
    &["params", "_meta", "progressToken"],
    &["result", "resultType"],
    &["result", "capabilities", "extensions", "io.modelcontextprotocol/tasks"],
];

/// Tries every edit on every member of the first two levels, and on the paths that the gateway uses.
pub(super) fn check(text: &str, document: &Node) {
    let mut paths: Vec<Vec<&str>> = USUAL.iter().map(|path| path.to_vec()).collect();
    for member in document.members().unwrap_or_default().iter().take(8) {
        let Some(name) = member.name() else { continue };
        paths.push(vec![name]);
        let inner = member.value.members().unwrap_or_default().iter().take(4);
        paths.extend(inner.filter_map(|it| Some(vec![name, it.name()?])));
    }
    for path in paths {
        let old = at(document, &path);
        assert_eq!(fuzz::get(text, &path), old.map(|node| node.text(text)), "{path:?}");
        removing(text, document, &path);
        setting(text, document, &path);
    }
    for era in [Era::Legacy, Era::Modern] {
        own_result(text, document, era);
    }
}

fn removing(text: &str, document: &Node, path: &[&str]) {
    let removed = fuzz::remove(text, path);
    let node = read(&removed).expect("still JSON");
    assert!(at(&node, path).is_none(), "{path:?} is still there: {removed}");
    rest_is_same(text, document, &removed, &node, path);
    if at(document, path).is_none() {
        assert_eq!(removed, text);
    } else if document.fault().is_none() {
        assert!(common(text, &removed) >= removed.len(), "more than one place is cut: {removed}");
    }
}

fn setting(text: &str, document: &Node, path: &[&str]) {
    let set = fuzz::set(text, path, VALUE);
    let node = read(&set).expect("still JSON");
    let (key, parents) = path.split_last().unwrap();
    let parent =
        at(document, parents).filter(|it| it.members().is_some_and(|all| all.iter().all(|it| it.name().is_some())));
    if parent.is_none() {
        return assert_eq!(set, text);
    }
    assert_eq!(at(&node, path).map(|it| it.text(&set)), Some(VALUE), "{key}");
    rest_is_same(text, document, &set, &node, path);
    let old = at(document, path).map_or(0, |it| it.at.len());
    assert!(common(text, &set) >= text.len() - old, "more than one place is changed: {set}");
}

fn own_result(text: &str, document: &Node, era: Era) {
    let result = fuzz::own_result(Json::parse(text).unwrap(), era);
    let node = read(result.as_str()).expect("still JSON");
    let kind = node.get("resultType").map(|it| it.text(result.as_str()));
    if document.members().is_some_and(|members| members.iter().all(|it| it.name().is_some())) {
        assert_eq!(kind, if era == Era::Modern { Some("\"complete\"") } else { None });
    }
    rest_is_same(text, document, result.as_str(), &node, &["resultType"]);
}

/// A request that may be sent on asks for no task, whoever reads it, and is otherwise what it was.
pub(super) fn of_tasks(line: &Json, text: &str, document: &Node, method: &str) {
    let without = fuzz::without_tasks(line, method);
    let node = read(without.as_str()).expect("still JSON");
    if method == "tools/call" {
        assert!(at(&node, &["params", "task"]).is_none());
    }
    for path in [&["id"][..], &["method"], &["params", "name"], &["params", "arguments"], &["params", "requestState"]] {
        let (before, after) = (at(document, path), at(&node, path));
        assert_eq!(after.map(|it| it.text(without.as_str())), before.map(|it| it.text(text)), "{path:?}");
    }
    assert_eq!(fuzz::without_tasks(&without, method), without, "a second time");
    assert_eq!(node.fault(), None);
}

/// The last value at that path; none where a key on the way to it is not Unicode.
fn at<'n>(node: &'n Node, path: &[&str]) -> Option<&'n Node> {
    path.iter().try_fold(node, |node, key| {
        node.members()?.iter().all(|member| member.name().is_some()).then(|| node.get(key))?
    })
}

/// Along the path everything beside it has the bytes that it had, in the same order.
fn rest_is_same(text: &str, before: &Node, changed: &str, after: &Node, path: &[&str]) {
    let Some((key, deeper)) = path.split_first() else { return };
    let (Some(old), Some(new)) = (before.members(), after.members()) else {
        return assert_eq!(after.text(changed), before.text(text));
    };
    let others = |members: &[Member], text: &str| {
        let others = members.iter().filter(|member| member.name() != Some(key));
        others.map(|it| (it.key.text(text).to_owned(), it.value.text(text).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(others(new, changed), others(old, text), "beside {key}");
    if let (Some(old), Some(new)) = (before.get(key), after.get(key)) {
        rest_is_same(text, old, changed, new, deeper);
    }
}

/// How many bytes two texts have in common at their beginning and their end.
fn common(one: &str, other: &str) -> usize {
    let same = |pair: &(u8, u8)| pair.0 == pair.1;
    let head = one.bytes().zip(other.bytes()).take_while(same).count();
    let tail = one.bytes().rev().zip(other.bytes().rev()).take_while(same).count();
    (head + tail).min(one.len().min(other.len()))
}
