//! What a real guest reaches with a grant, and what it hears without one.

mod requests;
mod server;
mod folders;

use std::sync::{Arc, Mutex};

use callgate_core::listener::Listener;
use callgate_core::state::MemoryState;
use callgate_core::testing::granted_call;
use callgate_core::{ListenerFailure, StateStore, Verdict};
use callgate_tests::host::Component;
use callgate_wasm::{Capability, WasmListener};
use serde_json::{Value, json};

/// The guest that tries what it is told, without any grant.
fn reach() -> Component {
    Component::named("reach").granted([])
}

async fn ready(component: Component) -> WasmListener {
    let state: Arc<dyn StateStore> = Arc::new(MemoryState::default());
    component.listener(&state).await
}

async fn attempt(listener: &WasmListener, acts: Value) -> Result<Vec<Value>, ListenerFailure> {
    let verdict = listener.before_call(&granted_call("read", &json!({ "acts": acts }).to_string())).await?;
    let Verdict::Deny(denial) = verdict else { panic!("{verdict:?}") };
    Ok(serde_json::from_str(denial.reason()).unwrap())
}

/// What came of each act.
async fn outcomes(component: Component, acts: Value) -> Vec<Value> {
    attempt(&ready(component).await, acts).await.unwrap_or_else(|failure| panic!("{failure:?}"))
}

/// What the host logged on this thread while this lives.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn capture() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    fn lines(&self, containing: &str) -> usize {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().filter(|line| line.contains(containing)).count()
    }
}

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn without_a_grant_everything_answers_and_nothing_is_reached() {
    let (log, _guard) = Log::capture();
    let listener = ready(reach()).await;
    let acts = json!([
        "sockets", "folders", "environment", "random", "monotonic",
        { "log": "from the guest" }, { "state": "v" }, { "request": { "url": "http://127.0.0.1/" } }, { "fields": 50 },
        { "file": { "act": "read", "folder": "/", "path": "etc/passwd" } },
    ]);
    // Told once, however often it is tried.
    for _ in 0..3 {
        let outcomes = attempt(&listener, acts.clone()).await.unwrap();
        let denied = json!(["access-denied", "access-denied", "access-denied"]);
        assert_eq!(outcomes[..6], [denied, json!([]), json!(0), json!(true), json!(true), json!("written")]);
        assert!(outcomes[6]["error"].as_str().unwrap().contains("not grant"), "{}", outcomes[6]);
        assert_eq!(outcomes[7]["error"].as_str().unwrap(), "at once: ErrorCode::HttpRequestDenied");
        assert_eq!(outcomes[8], json!(50), "the types work for everybody");
        assert_eq!(outcomes[9]["error"], "there is no such folder");
    }
    assert_eq!(log.lines("from the guest"), 0);
    for capability in [Capability::Log, Capability::State, Capability::Http, Capability::Folder] {
        let told = log.lines(&format!("asked for {capability}, which it was not granted; to grant it, "));
        assert_eq!(told, 1, "{capability}");
    }
    assert_eq!(log.lines("no listener can have these"), 1, "sockets");
}

#[tokio::test]
async fn the_time_of_day_is_a_grant_of_its_own() {
    let failure = attempt(&ready(reach()).await, json!(["now"])).await.unwrap_err();
    let ListenerFailure::Trap { detail, .. } = &failure else { panic!("{failure:?}") };
    assert!(detail.contains("`capabilities = [\"clocks\"]` under `[listener.reach]`"), "{detail}");
    let told = outcomes(reach().granted([Capability::Clocks]), json!(["now", "monotonic", { "sleep": 1 }])).await;
    assert_eq!(told, [json!(true), json!(true), json!("slept")]);
}

#[tokio::test]
async fn what_is_granted_works() {
    let (log, _guard) = Log::capture();
    let told =
        outcomes(reach().granted(Capability::NAMED), json!([{ "log": "from the guest" }, { "state": "v" }])).await;
    assert_eq!(told, [json!("written"), json!("v")]);
    assert_eq!((log.lines("from the guest"), log.lines("not granted")), (1, 0));
}
