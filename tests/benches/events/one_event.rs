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

pub(crate) async fn measure(guests: &[Guest]) -> Vec<Table> {
    let small = Arc::new(granted_call("write", SMALL));
    let mut events = Table::of_times("one before-call event, instances ready");
    events.compare(vec![("native".to_owned(), native(&small))]).await;
    let mut payloads = Table::of_times("the same by the size of the arguments");
    for guest in guests {
        let listener = guest.listener(BEFORE_CALL);
        let warm = Warm::new(&listener).await;
        let pair = |what: &str, call: &Arc<GrantedCall>| {
            vec![(format!("{what}: warm"), warm.round(call)), (format!("{what}: fresh"), fresh(&listener, call))]
        };
        events.compare(pair(guest.name, &small)).await;
        for (size, bytes) in [("1 KiB", 1 << 10), ("64 KiB", 64 << 10), ("1 MiB", 1 << 20)] {
            let call = Arc::new(granted_call("write", &arguments(bytes)));
            payloads.compare(pair(&format!("{}, {size}", guest.name), &call)).await;
        }
    }
    vec![events, payloads]
}

fn native(call: &Arc<GrantedCall>) -> Round {
    let call = call.clone();
    round(move || {
        let call = call.clone();
        async move { proceeds(Native(BEFORE_CALL).before_call(&call).await) }
    })
}

/// An instance that is used again.
pub(crate) struct Warm(Arc<Mutex<WarmInstance<'static>>>);

impl Warm {
    /// The instance lives as long as the benchmark, and so does its listener.
    pub(crate) async fn new(listener: &Arc<WasmListener>) -> Self {
        let listener: &'static WasmListener = Box::leak(Box::new(listener.clone()));
        Self(Arc::new(Mutex::new(WarmInstance::new(listener).await.expect("an instance is created"))))
    }

    pub(crate) fn round(&self, call: &Arc<GrantedCall>) -> Round {
        let (warm, call) = (self.0.clone(), call.clone());
        round(move || {
            let (warm, call) = (warm.clone(), call.clone());
            async move { proceeds(warm.lock().await.before_call(&call).await) }
        })
    }
}

/// Calls are so far apart that the next instances are ready.
pub(crate) fn fresh(listener: &Arc<WasmListener>, call: &Arc<GrantedCall>) -> Round {
    let (wait, listener, call) = (all_ready(&[listener.clone()]), listener.clone(), call.clone());
    round_after(wait, move || {
        let (listener, call) = (listener.clone(), call.clone());
        async move { proceeds(listener.before_call(&call).await) }
    })
}

pub(crate) fn proceeds(verdict: Result<Verdict, ListenerFailure>) {
    assert_eq!(verdict, Ok(Verdict::Proceed));
}
