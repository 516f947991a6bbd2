//! One before-call event, from the question to the verdict: a type of the host project, an instance that is used again, and
//! what listeners get, which is an instance that has seen no other event.

use std::sync::Arc;

use callgate_core::grant::GrantedCall;
use callgate_core::listener::Listener;
use callgate_core::testing::granted_call;
use callgate_core::{ListenerFailure, Verdict};
use callgate_wasm::WasmListener;
use callgate_wasm::bench::WarmInstance;
use tokio::sync::Mutex;

use crate::guests::{BEFORE_CALL, Guest, all_ready};
use crate::measure::{Round, Table, round, round_after};
use crate::native::Native;

/// The arguments of a small call.
pub(crate) const SMALL: &str = r#"{"path":"/srv/notes.txt"}"#;

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
    table.compare(vec![("native".to_owned(), native(&call))]).await;
    for guest in guests {
        table.compare(pair(guest.name, guest, &call).await).await;
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

async fn pair(what: &str, guest: &Guest, call: &Arc<GrantedCall>) -> Vec<(String, Round)> {
    let fresh = fresh(&guest.listener(BEFORE_CALL), call);
    vec![(format!("{what}: warm"), warm(guest, call).await), (format!("{what}: fresh"), fresh)]
}

fn native(call: &Arc<GrantedCall>) -> Round {
    let call = call.clone();
    round(move || {
        let call = call.clone();
        async move { proceeds(Native(BEFORE_CALL).before_call(&call).await) }
    })
}

/// An instance that is used again, of a listener of its own: what runs for long waits for its turn, and this instance keeps
/// the turn that it once had.
pub(crate) async fn warm(guest: &Guest, call: &Arc<GrantedCall>) -> Round {
    let listener: &'static WasmListener = Box::leak(Box::new(guest.configured(BEFORE_CALL, &[], 0)));
    let warm = Arc::new(Mutex::new(WarmInstance::new(listener).await.expect("an instance is created")));
    let call = call.clone();
    round(move || {
        let (warm, call) = (warm.clone(), call.clone());
        async move { proceeds(warm.lock().await.before_call(&call).await) }
    })
}

/// Calls are so far apart that the next instances are ready.
pub(crate) fn fresh(listener: &Arc<WasmListener>, call: &Arc<GrantedCall>) -> Round {
    let (wait, listener, call) = (all_ready(std::slice::from_ref(listener)), listener.clone(), call.clone());
    round_after(wait, move || {
        let (listener, call) = (listener.clone(), call.clone());
        async move { proceeds(listener.before_call(&call).await) }
    })
}

pub(crate) fn proceeds(verdict: Result<Verdict, ListenerFailure>) {
    assert_eq!(verdict, Ok(Verdict::Proceed));
}
