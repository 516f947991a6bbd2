//! Telling the client that what it may see has changed, and only then (W7).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_core::Json;
use callgate_core::registry::Tool;

use super::session::Session;

/// What the client knows that it may see, and what it may have to be told.
#[derive(Debug, Default)]
pub(super) struct Announcements {
    known: tokio::sync::Mutex<Option<View>>,
    inbox: Mutex<Inbox>,
}

/// Changes that upstreams told of. One waits at most, however many come: what is looked at for the latest one shows what
/// the earlier ones were about as well.
#[derive(Debug, Default)]
struct Inbox {
    at_work: bool,
    waiting: Option<Change>,
}

/// An upstream's message that its tools have changed, and how many looks at them had begun when it came.
#[derive(Debug)]
struct Change {
    looks: u64,
    line: Json,
}

#[derive(Debug)]
struct View {
    generation: u64,
    tools: Vec<Json>,
}

impl Inbox {
    /// Puts a change there. True where nobody is at work, so that somebody has to begin.
    fn put(&mut self, change: Change) -> bool {
        self.waiting = Some(change);
        !std::mem::replace(&mut self.at_work, true)
    }

    /// Takes the change that waits; where there is none the work is done.
    fn take(&mut self) -> Option<Change> {
        let change = self.waiting.take();
        self.at_work = change.is_some();
        change
    }
}

impl Announcements {
    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
    *session.announcements().known.lock().await = Some(View { generation, tools: definitions(tools) });
}

/// An upstream says that its tools have changed. It has to be heard while they are looked at again, as its listing comes the
/// same way.
pub(super) fn upstream_changed(session: &Arc<Session>, line: Json) {
    let change = Change { looks: session.inventory().looks(), line };
    if !session.announcements().inbox().put(change) {
        return;
    }
    let session = session.clone();
    tokio::spawn(async move {
        loop {
            let next = session.announcements().inbox().take();
            let Some(change) = next else { return };
            announce(&session, change).await;
        }
    });
}

/// Looks at the tools again, and passes the message on where the caller's own view
/// is another one now. The client may call what it lists at once, so it is told last.
async fn announce(session: &Session, Change { looks, line }: Change) {
    let mut known = session.announcements().known.lock().await;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w7_of_a_flood_of_changes_only_the_latest_waits() {
        let mut inbox = Inbox::default();
        let change = |looks| Change { looks, line: Json::empty_object() };
        assert!(inbox.put(change(1)));
        assert_eq!(inbox.take().unwrap().looks, 1);
        for looks in 2..100 {
            assert!(!inbox.put(change(looks)));
        }
        assert_eq!(inbox.take().unwrap().looks, 99);
        assert!(inbox.take().is_none());
        assert!(inbox.put(change(100)));
    }
}
