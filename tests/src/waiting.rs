//! Waiting for what happens in another process.

use std::path::Path;
use std::time::Duration;

/// The longest that anything is waited for. Only a test that fails waits for so long.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// Waits until the condition holds.
pub async fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let mut look = tokio::time::interval(Duration::from_millis(10));
    let looking = async {
        while !condition() {
            look.tick().await;
        }
    };
    tokio::time::timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("waited in vain for {what}"));
}

/// How many lines the file has; none while there is no file.
pub fn lines(file: &Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
}
