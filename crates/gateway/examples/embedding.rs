//! A host project with three tools of its own, governed in process: `cargo run --example embedding -- LISTENER.wasm` serves
//! them over standard input and output. One listener is a type of the project; the other is a component file, the same that
//! the gateway would run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use callgate_core::binding::{ArgumentType, Parameter};
use callgate_core::caller::Identity;
use callgate_core::listener::Hooks;
use callgate_core::permissions::Permissions;
use callgate_core::registry::Tool;
use callgate_core::state::MemoryState;
use callgate_core::subscription::Delivery;
use callgate_core::verdict::Denial;
use callgate_core::{
    Caller, Dispatcher, GrantedCall, Listener, ListenerFailure, NativeTool, RuleSet, Rules, Subscription, ToolRegistry,
    Verdict,
};
use callgate_mcp::{Server, serve_stdio};
use callgate_wasm::{ListenerOptions, Sandbox, SandboxConfig, SandboxLimits, WasmListener};

static POINTS: AtomicI64 = AtomicI64::new(0);

fn tools() -> [NativeTool; 3] {
    let show = NativeTool::new("show_points", [], |_| async { Ok(POINTS.load(Ordering::SeqCst).into()) });
    let add = NativeTool::new("add_points", [Parameter::new("points", ArgumentType::Int)], |arguments| async move {
        let points: i64 = arguments.get("points")?;
        Ok((POINTS.fetch_add(points, Ordering::SeqCst) + points).into())
    });
    let reset = NativeTool::new("reset_points", [], |_| async { Ok(POINTS.swap(0, Ordering::SeqCst).into()) });
    [
        show.description("How many points there are."),
        add.description("Adds points.").required("points", ArgumentType::Int),
        reset.description("Takes all points away.").method("points/reset", "administration"),
    ]
}

/// Denies calls that ask for more than 100 points at once.
#[derive(Debug)]
struct AtMostAHundred;

#[async_trait]
impl Listener for AtMostAHundred {
    fn hooks(&self) -> Hooks {
        Hooks { before_call: true, ..Hooks::default() }
    }

    async fn before_call(&self, call: &GrantedCall) -> Result<Verdict, ListenerFailure> {
        let arguments: serde_json::Value = serde_json::from_str(call.arguments().as_str())
            .map_err(|error| ListenerFailure::Returned(error.to_string()))?;
        if arguments.get("points").and_then(serde_json::Value::as_i64).is_some_and(|points| points > 100) {
            let denial = Denial::new("At most 100 points can be added at once.");
            return denial.map(Verdict::Deny).map_err(ListenerFailure::InvalidDecision);
        }
        Ok(Verdict::Proceed)
    }
}

async fn component(file: &Path) -> anyhow::Result<WasmListener> {
    let sandbox = Sandbox::new(SandboxConfig::default())?;
    let options = ListenerOptions {
        name: "component".into(),
        limits: SandboxLimits { decision_deadline: Duration::from_secs(1), ..SandboxLimits::default() },
        config: BTreeMap::new(),
        capabilities: BTreeSet::new(),
        http: None,
        folders: Vec::new(),
        state: Arc::new(MemoryState::default()),
        hooks: None,
    };
    Ok(WasmListener::new(sandbox.load(file, None).await?, options)?)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let Some(file) = std::env::args_os().nth(1) else { anyhow::bail!("which component is to listen?") };
    let listen = |name, listener| Subscription::new(name, listener, Duration::from_secs(1), Delivery::BeforeReply);
    let listeners = vec![
        listen("at-most-a-hundred", Arc::new(AtMostAHundred)),
        listen("component", Arc::new(component(file.as_ref()).await?)),
    ];
    // Only administrators may reset; the other two tools are for every caller.
    let mut permissions = Permissions::default();
    permissions.permit("administration", "points/reset", ["administrator"]);
    let rules = Rules::new(RuleSet::new(ToolRegistry::default(), permissions, listeners));

    let ada = Identity { subject: "ada".into(), auth_method: "config".into(), ..Identity::default() };
    serve_stdio(Server {
        dispatcher: Dispatcher::new(Arc::new(rules), Duration::from_secs(60)),
        caller: Some(Arc::new(Caller::new(ada)?)),
        upstreams: Vec::new(),
        native: tools().map(Tool::from).into(),
        name: "points".into(),
        version: env!("CARGO_PKG_VERSION").into(),
    })
    .await?;
    Ok(())
}
