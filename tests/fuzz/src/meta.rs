//! `_meta` on its way to a listener (N4).

use callgate_core::meta::{MAX_DEPTH, MAX_ENTRIES, MAX_KEY, MAX_VALUE};
use callgate_core::{Json, Outcome, Refusal, Verdict};

use crate::governed::{self, PLAIN};
use crate::reading::read;

/// A listener gets exactly the first entries that keep the bounds, compact and otherwise as they were spelled; is told how
/// many are missing; and what is bounded already stays as it is. The tool gets what the caller wrote.
pub(crate) fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(meta) = Json::parse(text) else { return };
    let params = with_meta(meta.as_str());
    let seen = governed::call(&params, Verdict::Proceed);
    if callgate_core::json::scan(params.as_str()).is_err() {
        assert_eq!(seen.outcome, Outcome::Refused(Refusal::ToolNameRequired));
        assert!(seen.context.is_none() && seen.executed.is_none() && seen.reports == 0);
        return;
    }
    assert_eq!(seen.executed.as_ref(), Some(&params), "what goes on is the caller's own");
    assert_eq!(seen.reports, 1);
    let bounded = &seen.context.expect("the listener was asked").meta;

    let node = read(meta.as_str()).expect("it is JSON");
    let members = node.members().unwrap_or_default();
    let fits = members.iter().filter_map(|member| {
        let (key, value) = (member.name()?, member.value.compact(meta.as_str()));
        let short = key.chars().count() <= MAX_KEY && value.chars().count() <= MAX_VALUE;
        (short && member.value.depth() <= MAX_DEPTH).then(|| (key.to_owned(), value))
    });
    let expected: Vec<_> = fits.take(MAX_ENTRIES).collect();
    let entries: Vec<_> =
        bounded.entries().iter().map(|entry| (entry.key.clone(), entry.value.as_str().to_owned())).collect();
    assert_eq!(entries, expected);
    assert_eq!(bounded.dropped() as usize + entries.len(), members.len(), "kept and dropped are all there were");
    for (key, value) in &entries {
        assert_eq!(bounded.get(key).map(Json::as_str), Some(value.as_str()));
    }

    let again: Vec<_> = entries.iter().map(|(key, value)| format!("{}:{value}", Json::string(key))).collect();
    let again = governed::call(&with_meta(&format!("{{{}}}", again.join(","))), Verdict::Proceed);
    let again = &again.context.expect("what was kept can be read").meta;
    assert_eq!((again.entries(), again.dropped()), (bounded.entries(), 0), "bounding twice");
}

fn with_meta(meta: &str) -> Json {
    Json::parse(&format!(r#"{{"name":"{PLAIN}","_meta":{meta}}}"#)).expect("put together from JSON")
}
