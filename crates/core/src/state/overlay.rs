//! State to try things on: reads what is there, and keeps what is written to itself.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;

use super::{MemoryState, StateError, StateStore};

/// A [`StateStore`] over another one that it never changes: explaining a call must not use up an approval. What a step
/// touches is copied first, with no expiry of its own, and the step is taken on the copy.
#[derive(Debug)]
pub struct ScratchState {
    beneath: Arc<dyn StateStore>,
    copy: MemoryState,
    copied: Mutex<HashSet<(String, String)>>,
}

impl ScratchState {
    /// A scratch space over that store.
    pub fn new(beneath: Arc<dyn StateStore>) -> Self {
        Self { beneath, copy: MemoryState::default(), copied: Mutex::default() }
    }

    async fn copied(&self, scope: &str, key: &str) -> Result<&MemoryState, StateError> {
        let slot = (scope.to_owned(), key.to_owned());
        let known = |copied: &Mutex<HashSet<_>>| copied.lock().unwrap_or_else(PoisonError::into_inner).contains(&slot);
        if !known(&self.copied) {
            if let Some(value) = self.beneath.get(scope, key).await? {
                self.copy.put_if_absent(scope, key, &value, None).await?;
            }
            self.copied.lock().unwrap_or_else(PoisonError::into_inner).insert(slot);
        }
        Ok(&self.copy)
    }
}

#[async_trait]
impl StateStore for ScratchState {
    async fn get(&self, scope: &str, key: &str) -> Result<Option<String>, StateError> {
        self.copied(scope, key).await?.get(scope, key).await
    }

    async fn compare_and_swap(
        &self,
        scope: &str,
        key: &str,
        expected: Option<&str>,
        replacement: Option<&str>,
        expiry: Option<Duration>,
    ) -> Result<bool, StateError> {
        self.copied(scope, key).await?.compare_and_swap(scope, key, expected, replacement, expiry).await
    }

    async fn set(&self, scope: &str, key: &str, value: &str, expiry: Option<Duration>) -> Result<(), StateError> {
        self.copied(scope, key).await?.set(scope, key, value, expiry).await
    }

    async fn put_if_absent(
        &self,
        scope: &str,
        key: &str,
        value: &str,
        expiry: Option<Duration>,
    ) -> Result<Option<String>, StateError> {
        self.copied(scope, key).await?.put_if_absent(scope, key, value, expiry).await
    }

    async fn increment(&self, scope: &str, key: &str, by: i32, expiry: Option<Duration>) -> Result<i32, StateError> {
        self.copied(scope, key).await?.increment(scope, key, by, expiry).await
    }

    async fn delete(&self, scope: &str, key: &str) -> Result<bool, StateError> {
        self.copied(scope, key).await?.delete(scope, key).await
    }

    /// What was touched. What is only beneath is not looked for.
    async fn scan(&self, scope: &str, prefix: &str, limit: usize) -> Result<Vec<(String, String)>, StateError> {
        self.copy.scan(scope, prefix, limit).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_tried_on_a_scratch_space_stays_there() {
        let real = Arc::new(MemoryState::default());
        real.set("gate", "approval/1", "approved", None).await.unwrap();
        let scratch = ScratchState::new(real.clone());

        let used_up = scratch.compare_and_swap("gate", "approval/1", Some("approved"), None, None).await;
        assert_eq!(used_up, Ok(true));
        assert_eq!(scratch.get("gate", "approval/1").await, Ok(None));
        assert_eq!(scratch.increment("gate", "count", 2, None).await, Ok(2));
        assert_eq!(scratch.scan("gate", "", 9).await.unwrap(), [("count".into(), "2".into())]);

        assert_eq!(real.get("gate", "approval/1").await, Ok(Some("approved".into())));
        assert_eq!(real.get("gate", "count").await, Ok(None));
    }
}
