//! Telling the client that what it may see has changed, and only then (W7).

use std::sync::Arc;

use callgate_core::Json;
use callgate_core::registry::Tool;
use tokio::sync::Mutex;

use super::session::Session;

/// What the client knows that it may see.
#[derive(Debug, Default)]
pub(super) struct Announcements(Mutex<Option<View>>);

#[derive(Debug)]
struct View {
    generation: u64,
    tools: Vec<Json>,
}

impl View {
    /// What the session's caller may see now: nothing, where nobody is signed in.
    async fn of(session: &Session) -> Self {
        let generation = session.dispatcher().rules().current().generation();
        let listing = session.dispatcher().list(session.caller().cloned()).await;
        Self { generation, tools: definitions(&listing.tools) }
    }
}

fn definitions(tools: &[Arc<Tool>]) -> Vec<Json> {
    tools.iter().map(|tool| tool.definition.clone()).collect()
}

/// The client was shown these tools, which were visible in that generation.
pub(super) async fn shown(session: &Session, generation: u64, tools: &[Arc<Tool>]) {
    *session.announcements().0.lock().await = Some(View { generation, tools: definitions(tools) });
}

/// An upstream says that its tools have changed: looks at them again, and passes the message on where the caller's own view
/// is another one now. The client may call what it lists at once, so it is told last.
pub(super) async fn upstream_changed(session: &Session, looks: u64, line: Json) {
    let mut known = session.announcements().0.lock().await;
    let before = match known.take() {
        Some(view) => view,
        None => View::of(session).await,
    };
    session.inventory().refresh_after(looks).await;
    if session.dispatcher().rules().current().generation() == before.generation {
        *known = Some(before);
        return;
    }
    let now = View::of(session).await;
    let changed = now.tools != before.tools;
    *known = Some(now);
    drop(known);
    if changed {
        session.say(line).await;
    }
}
