//! Counting what is under way, so that a host can wait for it.

use tokio::sync::watch;

/// How many calls are under way.
#[derive(Debug)]
pub(super) struct InFlight(watch::Sender<usize>);

/// One call that is under way for as long as this lives.
#[derive(Debug)]
pub(super) struct UnderWay(watch::Sender<usize>);

impl InFlight {
    pub(super) fn enter(&self) -> UnderWay {
        self.0.send_modify(|calls| *calls += 1);
        UnderWay(self.0.clone())
    }

    /// Waits until nothing is under way.
    pub(super) async fn none_left(&self) {
        // The sender lives in here, so the wait can not fail.
        let _ = self.0.subscribe().wait_for(|calls| *calls == 0).await;
    }
}

impl Default for InFlight {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.send_modify(|calls| *calls = calls.saturating_sub(1));
    }
}
