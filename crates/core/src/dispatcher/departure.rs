//! A call under way, and the ways in which its caller may leave it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::refusal::Refusal;
use crate::report::FailureKind;

use super::Outcome;

/// A call under way. Resolves to what the caller gets. Dropping it says that the caller went away: the call still comes to
/// its end, and the tool is cancelled if it runs.
#[derive(Debug)]
pub struct CallInFlight {
    task: JoinHandle<Outcome>,
    canceller: Canceller,
}

/// Says that the caller cancelled a call.
#[derive(Clone, Debug)]
pub struct Canceller(Arc<watch::Sender<Option<FailureKind>>>);

/// The call's own view of its caller.
#[derive(Clone, Debug)]
pub(super) struct Departure(watch::Receiver<Option<FailureKind>>);

impl CallInFlight {
    pub(super) fn spawn<C, F>(call: C) -> Self
    where
        C: FnOnce(Departure) -> F,
        F: Future<Output = Outcome> + Send + 'static,
    {
        let (canceller, departure) = Departure::channel();
        Self { task: tokio::spawn(call(departure)), canceller }
    }

    /// A handle by which the caller may cancel the call from elsewhere.
    pub fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }
}

impl Canceller {
    /// The caller cancels the call. If the tool runs it is cancelled; if it does not, it will not.
    pub fn cancel(&self) {
        self.leave(FailureKind::Cancelled);
    }

    fn leave(&self, kind: FailureKind) {
        self.0.send_if_modified(|reason| {
            let first = reason.is_none();
            reason.get_or_insert(kind);
            first
        });
    }
}

impl Departure {
    pub(super) fn channel() -> (Canceller, Self) {
        let (sender, receiver) = watch::channel(None);
        (Canceller(Arc::new(sender)), Self(receiver))
    }

    /// Why the caller left, if it did.
    pub(super) fn reason(&self) -> Option<FailureKind> {
        *self.0.borrow()
    }

    /// Waits until the caller leaves.
    pub(super) async fn left(&mut self) -> FailureKind {
        match self.0.wait_for(Option::is_some).await {
            Ok(reason) => reason.unwrap_or(FailureKind::Disconnected),
            // Nobody is left who could say why.
            Err(_) => FailureKind::Disconnected,
        }
    }
}

impl Future for CallInFlight {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let ended = ready!(Pin::new(&mut self.task).poll(context));
        Poll::Ready(ended.unwrap_or_else(|error| {
            tracing::error!(%error, "a call did not come to its end");
            Outcome::Refused(Refusal::Internal)
        }))
    }
}

impl Drop for CallInFlight {
    fn drop(&mut self) {
        self.canceller.leave(FailureKind::Disconnected);
    }
}
