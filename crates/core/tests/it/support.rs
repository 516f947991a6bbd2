//! A dispatcher, the tool behind it, and what it wrote to its log.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use callgate_core::binding::{ArgumentType, Parameter};
use callgate_core::caller::Identity;
use callgate_core::listener::Hooks;
use callgate_core::permissions::Permissions;
use callgate_core::registry::Tool;
use callgate_core::testing::{self, Recorder, Scripted};
use callgate_core::verdict::Denial;
use callgate_core::{
    CallReport, Caller, Dispatcher, GrantedCall, Json, Listener, ListenerFailure, NativeTool, Outcome, RuleSet, Rules,
    Subscription, ToolRegistry, Verdict,
};
use tokio::sync::Notify;

pub(crate) fn ada() -> Option<Arc<Caller>> {
    Some(testing::caller("ada", &["writer"]))
}

/// The same caller with one field changed.
pub(crate) fn ada_but(change: impl FnOnce(&mut Identity)) -> Option<Arc<Caller>> {
    let mut identity = ada().unwrap().identity().clone();
    change(&mut identity);
    Some(Arc::new(Caller::new(identity).unwrap()))
}

/// A tool that every signed-in caller sees, and the record of its runs.
pub(crate) fn recorded(name: &str) -> (Tool, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let definition = Json::parse(&format!(r#"{{"name":"{name}"}}"#)).unwrap();
    (Tool::new(testing::row(name), definition, recorder.clone()), recorder)
}

/// A dispatcher over one tool, `write`, and these listeners, called `first`, `second` and so on.
pub(crate) struct Host {
    pub(crate) dispatcher: Dispatcher,
    pub(crate) tool: Arc<Recorder>,
}

const NAMES: [&str; 4] = ["first", "second", "third", "fourth"];

impl Host {
    pub(crate) fn new(listeners: impl IntoIterator<Item = Arc<Scripted>>) -> Self {
        let subscriptions = listeners.into_iter().zip(NAMES).map(|(it, name)| testing::subscription(name, it));
        Self::subscribed(subscriptions.collect())
    }

    pub(crate) fn subscribed(subscriptions: Vec<Subscription>) -> Self {
        let (tool, recorder) = recorded("write");
        Self { dispatcher: testing::dispatcher(vec![tool], subscriptions), tool: recorder }
    }

    /// Calls `write` as Ada.
    pub(crate) async fn call(&self) -> Outcome {
        self.call_tool("write").await
    }

    pub(crate) async fn call_tool(&self, name: &str) -> Outcome {
        self.dispatcher.call(testing::request(ada(), name, "{}")).await
    }

    pub(crate) async fn listed(&self) -> Vec<String> {
        listed(&self.dispatcher, ada()).await
    }
}

pub(crate) async fn listed(dispatcher: &Dispatcher, caller: Option<Arc<Caller>>) -> Vec<String> {
    dispatcher.list(caller).await.tools.iter().map(|tool| tool.row.identifier.clone()).collect()
}

/// A dispatcher over these tools, permissions and listeners.
pub(crate) fn governed(tools: Vec<Tool>, permissions: Permissions, listeners: Vec<Subscription>) -> Dispatcher {
    let rules = RuleSet::new(ToolRegistry::new(tools).unwrap(), permissions, listeners);
    Dispatcher::new(Arc::new(Rules::new(rules)), Duration::from_secs(30))
}

pub(crate) fn failure() -> ListenerFailure {
    ListenerFailure::Returned("no database".into())
}

pub(crate) fn denial(reason: &str) -> Verdict {
    Verdict::Deny(Denial::new(reason).unwrap())
}

pub(crate) fn answer(text: &str) -> Verdict {
    Verdict::Answer(answer_json(text))
}

pub(crate) fn answer_json(text: &str) -> Json {
    Json::parse(&format!(r#"{{"content":[{{"type":"text","text":"{text}"}}],"future": 1.0}}"#)).unwrap()
}

/// A listener that says this before a call and keeps what it is told after it.
pub(crate) fn saying(verdict: Result<Verdict, ListenerFailure>) -> Arc<Scripted> {
    Arc::new(Scripted::default().on_before_call(move |_| verdict.clone()).on_after_call(|_| Ok(())))
}

/// A listener that only keeps what it is told after a call.
pub(crate) fn audit() -> Arc<Scripted> {
    Arc::new(Scripted::default().on_after_call(|_| Ok(())))
}

pub(crate) fn native(name: &str) -> NativeTool {
    NativeTool::new(name, [Parameter::new("idReward", ArgumentType::Int)], |arguments| async move {
        Ok(arguments.get::<i64>("idReward")?.into())
    })
    .required("idReward", ArgumentType::Int)
}

/// A listener whose hooks wait until the test lets them go on, and that tells when it is asked.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) hooks: Hooks,
    pub(crate) asked: Notify,
    pub(crate) go_on: Notify,
    pub(crate) told: Mutex<Vec<CallReport>>,
}

impl Waiting {
    pub(crate) fn new(hooks: Hooks) -> Arc<Self> {
        Arc::new(Self { hooks, asked: Notify::new(), go_on: Notify::new(), told: Mutex::default() })
    }
}

#[async_trait]
impl Listener for Waiting {
    fn hooks(&self) -> Hooks {
        self.hooks
    }

    async fn before_call(&self, _call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        self.asked.notify_one();
        self.go_on.notified().await;
        Ok(Verdict::Proceed)
    }

    async fn after_call(&self, report: &CallReport) -> Result<(), ListenerFailure> {
        self.asked.notify_one();
        self.go_on.notified().await;
        self.told.lock().unwrap().push(report.clone());
        Ok(())
    }
}

/// What the host logged on this thread while this lives.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn capture() -> (Self, tracing::subscriber::DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        (log, tracing::subscriber::set_default(subscriber))
    }

    pub(crate) fn lines(&self, containing: &str) -> Vec<String> {
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
