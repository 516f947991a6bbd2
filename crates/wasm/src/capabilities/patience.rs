//! How long host calls may wait. A guest that hears that something did not answer can still decide; one whose deadline
//! passed meanwhile can not.

use std::time::Duration;

use tokio::time::Instant;

/// The time of one event, seen from its host calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    deadline: Duration,
    end: Instant,
}

impl Patience {
    /// The event begins now.
    pub(crate) fn new(deadline: Duration) -> Self {
        let now = Instant::now();
        // A deadline that is beyond what the clock can say is none.
        let end = now.checked_add(deadline).unwrap_or_else(|| now + Duration::from_secs(1 << 30));
        Self { deadline, end }
    }

    /// When a host call that begins now has waited for long enough: that long, or half of the event's deadline, but never
    /// into the last quarter of what is left of the event.
    pub(crate) fn until(&self, most: Option<Duration>) -> Instant {
        let now = Instant::now();
        let left = self.end.saturating_duration_since(now);
        now + most.unwrap_or(self.deadline / 2).min(left * 3 / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_host_call_leaves_time_for_the_guest() {
        let patience = Patience::new(8 * SECOND);
        let begin = Instant::now();
        assert_eq!(patience.until(None), begin + 4 * SECOND);
        assert_eq!(patience.until(Some(SECOND)), begin + SECOND);
        assert_eq!(patience.until(Some(60 * SECOND)), begin + 6 * SECOND);
        tokio::time::advance(4 * SECOND).await;
        assert_eq!(patience.until(None), begin + 7 * SECOND);
        tokio::time::advance(40 * SECOND).await;
        assert_eq!(patience.until(None), Instant::now(), "after the end there is nothing to wait for");
    }

    #[test]
    fn a_deadline_for_ever_is_one() {
        assert!(Patience::new(Duration::MAX).until(Some(SECOND)) > Instant::now());
    }
}
