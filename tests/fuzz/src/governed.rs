//! One call through a real dispatcher: what its listener saw, what its tool got, and what became of it.

use std::sync::{Arc, LazyLock, Mutex};

use async_trait::async_trait;
use callgate_core::failure::ListenerFailure;
use callgate_core::listener::{Hooks, Listener};
use callgate_core::registry::Tool;
use callgate_core::request::{CallRequest, Round};
use callgate_core::testing::{caller, dispatcher, row, subscription};
use callgate_core::tool::{ToolFailure, ToolProvider, ToolReply};
use callgate_core::{CallReport, Caller, Dispatcher, GrantedCall, Json, Outcome, ToolCallContext, Verdict};
use tokio::runtime::{Builder, Runtime};

/// The tool that has no output schema.
pub(crate) const PLAIN: &str = "plain";
/// The tool that promises an object with a whole number `n`.
pub(crate) const COUNTED: &str = "counted";

/// What could be seen of a call.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) outcome: Outcome,
    /// What the before-call listener was asked about.
    pub(crate) context: Option<Arc<ToolCallContext>>,
    /// The parameters that the tool ran with.
    pub(crate) executed: Option<Json>,
    /// After-call events.
    pub(crate) reports: usize,
}

/// Sends a request with those parameters through governance, whose listener gives that verdict.
pub(crate) fn call(params: &Json, verdict: Verdict) -> Seen {
    let Governance { runtime, dispatcher, listener, tool, caller } = &*GOVERNANCE;
    *listener.verdict.lock().unwrap() = Some(verdict);
    let request = CallRequest { caller: Some(caller.clone()), params: params.clone(), round: Round::First, wire: None };
    let outcome = runtime.lock().unwrap().block_on(async { dispatcher.call(request).await });
    Seen {
        outcome,
        context: listener.context.lock().unwrap().take(),
        executed: tool.params.lock().unwrap().take(),
        reports: std::mem::take(&mut *listener.reports.lock().unwrap()),
    }
}

struct Governance {
    // One call at a time, or what was seen could be another's.
    runtime: Mutex<Runtime>,
    dispatcher: Dispatcher,
    listener: Arc<Witness>,
    tool: Arc<Recorder>,
    caller: Arc<Caller>,
}

static GOVERNANCE: LazyLock<Governance> = LazyLock::new(|| {
    let (listener, tool) = (Arc::new(Witness::default()), Arc::new(Recorder::default()));
    let schema = r#"{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}"#;
    let definition = |text: &str| Json::parse(text).unwrap();
    let tools = vec![
        Tool::new(row(PLAIN), definition("{}"), tool.clone()),
        Tool::new(row(COUNTED), definition(&format!(r#"{{"outputSchema":{schema}}}"#)), tool.clone()),
    ];
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    let dispatcher = dispatcher(tools, vec![subscription("witness", listener.clone())]);
    Governance { runtime: Mutex::new(runtime), dispatcher, listener, tool, caller: caller("ada", &[]) }
});

#[derive(Debug, Default)]
struct Witness {
    verdict: Mutex<Option<Verdict>>,
    context: Mutex<Option<Arc<ToolCallContext>>>,
    reports: Mutex<usize>,
}

#[async_trait]
impl Listener for Witness {
    fn hooks(&self) -> Hooks {
        Hooks { grant: false, ..Hooks::ALL }
    }

    async fn before_call(&self, call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        *self.context.lock().unwrap() = Some(call.context().clone());
        Ok(self.verdict.lock().unwrap().take().unwrap())
    }

    async fn after_call(&self, _report: &CallReport) -> Result<(), ListenerFailure> {
        *self.reports.lock().unwrap() += 1;
        Ok(())
    }
}

#[derive(Debug, Default)]
struct Recorder {
    params: Mutex<Option<Json>>,
}

#[async_trait]
impl ToolProvider for Recorder {
    async fn call(&self, call: &GrantedCall) -> Result<ToolReply, ToolFailure> {
        let twice = self.params.lock().unwrap().replace(call.params().clone());
        assert_eq!(twice, None, "the tool ran twice");
        Ok(ToolReply::result(callgate_core::testing::empty_result()))
    }
}
