//! One before-call event, from the question to the verdict: a type of the host project, an instance that is used again, and
//! what listeners get, which is an instance that has seen no other event.

use std::sync::Arc;

use callgate_core::grant::GrantedCall;
use callgate_core::listener::Listener;
use callgate_core::testing::granted_call;
use callgate_core::{ListenerFailure, Verdict};
use callgate_wasm::bench::{PARTS, WarmInstance};
use callgate_wasm::{SandboxLimits, WasmListener};
use tokio::sync::Mutex;

use crate::guests::{BEFORE_CALL, Guest, all_ready};
use crate::measure::{Subject, Table, percentile};
use crate::native::Native;

/// The arguments of a small call.
pub(crate) const SMALL: &str = r#"{"path":"/srv/notes.txt"}"#;

/// How many events are taken apart.
const EVENTS: usize = 400;

/// Arguments of that many bytes, as a call that writes a file has them.
pub(crate) fn arguments(bytes: usize) -> String {
    let frame = r#"{"path":"/srv/notes.txt","content":""}"#.len();
    let line = r#"It says \"so\" here.\n"#;
    let mut content = line.repeat(bytes.saturating_sub(frame) / line.len());
    content += &".".repeat(bytes.saturating_sub(frame + content.len()));
    format!(r#"{{"path":"/srv/notes.txt","content":"{content}"}}"#)
}

pub(crate) async fn small(guests: &[Guest]) -> Table {
    let mut table = Table::of_times("one before-call event, instances ready");
    let call = Arc::new(granted_call("write", SMALL));
    table.compare(vec![native(&call)]).await;
    for guest in guests {
        table.compare(pair(guest.name, guest, &call).await).await;
    }
    table
}

/// What an event is made of, while nothing else runs: what the host takes off its path, and what is left on it.
pub(crate) async fn parts(guests: &[Guest]) -> Table {
    let mut table = Table::new("the parts of a before-call event, each by its median in µs", &PARTS);
    let call = granted_call("write", SMALL);
    for guest in guests {
        let listener = guest.configured(BEFORE_CALL, &[], 0);
        let mut times: [Vec<_>; PARTS.len()] = Default::default();
        for _ in 0..EVENTS / SandboxLimits::default().ready {
            let made = callgate_wasm::bench::parts(&listener, &call, SandboxLimits::default().ready).await;
            for event in made.expect("every event has a verdict") {
                times.iter_mut().zip(event).for_each(|(times, time)| times.push(time));
            }
        }
        table.add(guest.name, times.iter_mut().map(|times| percentile(times, 50)).collect());
    }
    table
}

pub(crate) async fn by_size(guests: &[Guest]) -> Table {
    let mut table = Table::of_times("the same by the size of the arguments");
    for guest in guests {
        for (size, bytes) in [("1 KiB", 1 << 10), ("64 KiB", 64 << 10), ("1 MiB", 1 << 20)] {
            let call = Arc::new(granted_call("write", &arguments(bytes)));
            table.compare(pair(&format!("{}, {size}", guest.name), guest, &call).await).await;
        }
    }
    table
}

async fn pair(what: &str, guest: &Guest, call: &Arc<GrantedCall>) -> Vec<Subject> {
    let fresh = fresh(format!("{what}: fresh"), &guest.listener(BEFORE_CALL), call);
    vec![warm(format!("{what}: warm"), guest, call).await, fresh]
}

fn native(call: &Arc<GrantedCall>) -> Subject {
    let call = call.clone();
    Subject::new("native", move || {
        let call = call.clone();
        async move { proceeds(Native(BEFORE_CALL).before_call(&call).await) }
    })
}

/// An instance that is used again.
pub(crate) async fn warm(what: impl Into<String>, guest: &Guest, call: &Arc<GrantedCall>) -> Subject {
    let listener: &'static WasmListener = Box::leak(Box::new(guest.configured(BEFORE_CALL, &[], 0)));
    let warm = Arc::new(Mutex::new(WarmInstance::new(listener).await.expect("an instance is created")));
    let call = call.clone();
    Subject::new(what, move || {
        let (warm, call) = (warm.clone(), call.clone());
        async move { proceeds(warm.lock().await.before_call(&call).await) }
    })
}

/// Calls are so far apart that the next instances are ready.
pub(crate) fn fresh(what: impl Into<String>, listener: &Arc<WasmListener>, call: &Arc<GrantedCall>) -> Subject {
    let (ready, listener, call) = (all_ready(std::slice::from_ref(listener)), listener.clone(), call.clone());
    let fresh = Subject::new(what, move || {
        let (listener, call) = (listener.clone(), call.clone());
        async move { proceeds(listener.before_call(&call).await) }
    });
    fresh.after(ready)
}

pub(crate) fn proceeds(verdict: Result<Verdict, ListenerFailure>) {
    assert_eq!(verdict, Ok(Verdict::Proceed));
}
