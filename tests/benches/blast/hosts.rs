//! The host under load: good listeners, and the bad ones where they take part.

use std::sync::Arc;
use std::time::Duration;

use callgate_core::permissions::Permissions;
use callgate_core::registry::Tool;
use callgate_core::state::MemoryState;
use callgate_core::subscription::BreakerLimits;
use callgate_core::testing;
use callgate_core::{Dispatcher, StateStore};
use callgate_tests::host;
use callgate_tests::misbehaving::{Vice, content};
use callgate_tests::tools::{counting, text};
use callgate_wasm::{Hook, SandboxLimits};

/// The tool over which nobody misbehaves.
pub(crate) const WORKS: &str = "works";
/// How long every tool takes, as an upstream does: as many calls are in flight as arrive in that time.
pub(crate) const TOOL: Duration = Duration::from_secs(1);

/// A host whose bad listeners have that hook; none for a host without them.
pub(crate) async fn host(bad: Option<Hook>) -> Dispatcher {
    let state: Arc<dyn StateStore> = Arc::new(MemoryState::default());
    let limits = SandboxLimits::default();
    let good = async |name: &str, hook| content(name, hook, &limits, &state).await;
    let mut listeners = vec![good("grants", Hook::Grant).await, good("first", Hook::BeforeCall).await];
    if let Some(hook) = bad {
        for vice in Vice::ALL {
            listeners.push(vice.listener(hook, &limits, BreakerLimits::default(), &state).await);
        }
    }
    listeners.push(good("last", Hook::BeforeCall).await);
    listeners.push(good("after", Hook::AfterCall).await);
    let tools = Vice::ALL.map(Vice::name).into_iter().chain([WORKS]).map(tool).collect();
    host::dispatcher(tools, Permissions::default(), listeners)
}

fn tool(name: &str) -> Tool {
    let run = |_| async {
        tokio::time::sleep(TOOL).await;
        text("done")
    };
    counting(testing::row(name), run).0
}
