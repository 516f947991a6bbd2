//! How long host calls may wait. A guest that hears that something did not answer can still decide; one whose deadline
//! passed meanwhile can not.

use std::time::Duration;

use tokio::time::Instant;

/// The time of one event, seen from its host calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// Half of the event's time.
    half: Duration,
    end: Instant,
}

impl Patience {
    /// The event begins now and has to be over then.
    pub(crate) fn new(end: std::time::Instant) -> Self {
        let end = Instant::from_std(end);
        Self { half: end.saturating_duration_since(Instant::now()) / 2, end }
    }

    /// When a host call that begins now has waited for long enough: that long, or half of the event's time, but never into the
    /// last quarter of what is left of it.
    pub(crate) fn until(&self, most: Option<Duration>) -> Instant {
        let now = Instant::now();
        let left = self.end.saturating_duration_since(now);
        now + most.unwrap_or(self.half).min(left / 4 * 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_host_call_leaves_time_for_the_guest() {
        let begin = Instant::now();
        let patience = Patience::new((begin + 8 * SECOND).into_std());
        assert_eq!(patience.until(None), begin + 4 * SECOND);
        assert_eq!(patience.until(Some(SECOND)), begin + SECOND);
        assert_eq!(patience.until(Some(60 * SECOND)), begin + 6 * SECOND);
        tokio::time::advance(4 * SECOND).await;
        assert_eq!(patience.until(None), begin + 7 * SECOND);
        tokio::time::advance(40 * SECOND).await;
        assert_eq!(patience.until(None), Instant::now(), "after the end there is nothing to wait for");
    }
}
