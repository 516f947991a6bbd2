//! What was not granted is not reached, and the log says once what would grant it.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callgate_core::{ListenerFailure, Verdict};
use callgate_wasm::{
    Capability, FolderAccess, FolderGrant, FolderProblem, HttpGrant, ListenerOptions, OptionsError, SandboxLimits,
    WasmListener,
};

use crate::kit;
use crate::sandbox::{before_call, failure, failure_with, listener, listener_with, options, patient, sandbox};

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

    fn lines(&self, containing: &str) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().filter(|line| line.contains(containing)).map(str::to_owned).collect()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Writes a warning, and proceeds.
fn writing() -> Vec<u8> {
    let items = r#"
      (import "callgate:host/log@0.1.0" "write" (func $log (param i32 i32 i32)))
      (data (i32.const 1024) "from the guest")"#;
    kit::before_with(items, "(call $log (i32.const 2) (i32.const 1024) (i32.const 14)) (i32.const 0)")
}

#[tokio::test]
async fn lines_are_dropped_unless_they_are_granted() {
    let (log, _guard) = Log::capture();
    let silent = listener(writing()).await;
    for _ in 0..3 {
        assert_eq!(before_call(&silent).await, Ok(Verdict::Proceed));
    }
    assert_eq!(log.lines("from the guest"), [""; 0]);
    let told = log.lines("`capabilities = [\"log\"]` under `[listener.guest]`");
    assert_eq!(told.len(), 1, "{told:?}");

    let granted = ListenerOptions { capabilities: [Capability::Log].into(), ..options() };
    assert_eq!(before_call(&listener_with(writing(), granted).await).await, Ok(Verdict::Proceed));
    assert_eq!(log.lines("from the guest").len(), 1);
}

const CLOCKS: &str = r#"
  (import "wasi:clocks/wall-clock@0.2.0" "now" (func $now (param i32)))
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $after (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))
"#;

fn with_clocks(body: &str) -> Vec<u8> {
    kit::component("clocks", &format!("{CLOCKS} {} {} {body})", kit::MEMORY, kit::BEFORE_DECIDE))
}

/// A time that is made up would be believed, and what has expired would be valid.
#[tokio::test]
async fn the_time_of_day_ends_the_event_unless_it_is_granted() {
    let (log, _guard) = Log::capture();
    // Proceeds if it is later than 2020, and traps otherwise.
    let guest = || {
        with_clocks(
            "(call $now (i32.const 64))
             (if (i64.lt_u (i64.load (i32.const 64)) (i64.const 1577836800)) (then unreachable))
             (i32.const 0)",
        )
    };
    let failure = failure(guest()).await;
    let ListenerFailure::Trap { detail, .. } = &failure else { panic!("{failure:?}") };
    for part in ["wasi:clocks/wall-clock#now", "`capabilities = [\"clocks\"]` under `[listener.guest]`"] {
        assert!(detail.contains(part), "{detail}");
    }
    assert_eq!(log.lines("asked for clocks").len(), 1);
    let granted = ListenerOptions { capabilities: [Capability::Clocks].into(), ..options() };
    assert_eq!(before_call(&listener_with(guest(), granted).await).await, Ok(Verdict::Proceed));
}

#[tokio::test]
async fn f1_the_deadline_holds_in_a_host_call() {
    let deadline = Duration::from_millis(50);
    let limits = SandboxLimits { decision_deadline: deadline, ..patient() };
    let waiting = with_clocks("(call $block (call $after (i64.const 3600000000000))) (i32.const 0)");
    let failure = failure_with(waiting, ListenerOptions { limits, ..options() }).await;
    assert_eq!(failure, ListenerFailure::Deadline(deadline));
}

#[tokio::test]
async fn a_grant_that_can_not_hold_is_refused_with_its_reason() {
    let component = sandbox().load_bytes(kit::proceeding(), None).await.unwrap();
    let refused = |options| WasmListener::new(component.clone(), options).unwrap_err();

    let missing = FolderGrant { path: "no/such/folder".into(), guest: "/a".into(), access: FolderAccess::Read };
    let error = refused(ListenerOptions { folders: vec![missing], ..options() });
    assert!(matches!(error, OptionsError::Folder { index: 0, problem: FolderProblem::Unusable { .. } }), "{error:?}");

    // The deadline is a minute.
    let origin = "https://api.example.com".parse().unwrap();
    let late = HttpGrant { timeout: Some(Duration::from_secs(60)), ..HttpGrant::to([origin]) };
    let error = refused(ListenerOptions { http: Some(late), ..options() });
    assert!(error.to_string().contains("not below the deadline"), "{error}");
}
