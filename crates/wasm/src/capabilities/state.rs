//! `callgate:host/state` over the host's state store.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use callgate_core::StateStore;
use callgate_core::state::StateError;

use crate::abi::v0_1::bindings::callgate::host::state::{Error, Host};
use crate::event::EventState;
use crate::limits::LimitExceeded;

/// Whether a listener may use the state store.
#[derive(Clone, Debug)]
pub(crate) enum StateAccess {
    /// It may, under its own name.
    Granted(Arc<dyn StateStore>),
    /// It may not.
    Denied {
        /// Whether the log was told already.
        reported: Arc<AtomicBool>,
    },
}

impl StateAccess {
    pub(crate) fn denied() -> Self {
        Self::Denied { reported: Arc::default() }
    }
}

/// A call that returns an error to the guest, or one that ends the event.
enum Refusal {
    Answer(Error),
    End(LimitExceeded),
}

impl From<StateError> for Refusal {
    fn from(error: StateError) -> Self {
        Self::Answer(match error {
            StateError::OutOfBounds => Error::OutOfBounds,
            StateError::NotANumber => Error::NotANumber,
            StateError::Unavailable(text) => Error::Unavailable(text),
        })
    }
}

impl From<LimitExceeded> for Refusal {
    fn from(limit: LimitExceeded) -> Self {
        Self::End(limit)
    }
}

type Answer<T> = wasmtime::Result<Result<T, Error>>;

impl EventState {
    /// The store and the listener's scope in it, if the listener may use it and has not used it too much.
    fn state(&mut self, texts: &[&str]) -> Result<(Arc<dyn StateStore>, Arc<str>), Refusal> {
        let scope = self.grants.listener.clone();
        match &self.grants.state {
            StateAccess::Granted(store) => {
                let store = store.clone();
                self.meter.take_state(texts.iter().map(|text| text.len()).sum())?;
                Ok((store, scope))
            }
            StateAccess::Denied { reported } => {
                if !reported.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        listener = &*scope,
                        "the listener asked for state, which it was not granted; to grant it, write \
                         `capabilities = [\"state\"]` under `[listener.{scope}]`"
                    );
                }
                Err(Refusal::Answer(Error::Denied))
            }
        }
    }

    fn received(&mut self, value: Option<String>) -> Result<Option<String>, Refusal> {
        self.meter.take_state(value.as_ref().map_or(0, String::len))?;
        Ok(value)
    }
}

fn answer<T>(result: Result<T, Refusal>) -> Answer<T> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Refusal::Answer(error)) => Ok(Err(error)),
        Err(Refusal::End(limit)) => Err(limit.into()),
    }
}

fn expiry(millis: Option<u32>) -> Option<Duration> {
    millis.map(|millis| Duration::from_millis(millis.into()))
}

impl Host for EventState {
    async fn get(&mut self, key: String) -> Answer<Option<String>> {
        let result = async {
            let (store, scope) = self.state(&[&key])?;
            let value = store.get(&scope, &key).await?;
            self.received(value)
        };
        answer(result.await)
    }

    async fn set(&mut self, key: String, value: String, expiry_ms: Option<u32>) -> Answer<()> {
        let result = async {
            let (store, scope) = self.state(&[&key, &value])?;
            Ok(store.set(&scope, &key, &value, expiry(expiry_ms)).await?)
        };
        answer(result.await)
    }

    async fn put_if_absent(&mut self, key: String, value: String, expiry_ms: Option<u32>) -> Answer<Option<String>> {
        let result = async {
            let (store, scope) = self.state(&[&key, &value])?;
            let existing = store.put_if_absent(&scope, &key, &value, expiry(expiry_ms)).await?;
            self.received(existing)
        };
        answer(result.await)
    }

    async fn compare_and_swap(
        &mut self,
        key: String,
        expected: Option<String>,
        replacement: Option<String>,
        expiry_ms: Option<u32>,
    ) -> Answer<bool> {
        let result = async {
            let (expected, replacement) = (expected.as_deref(), replacement.as_deref());
            let texts = [&key, expected.unwrap_or_default(), replacement.unwrap_or_default()];
            let (store, scope) = self.state(&texts)?;
            Ok(store.compare_and_swap(&scope, &key, expected, replacement, expiry(expiry_ms)).await?)
        };
        answer(result.await)
    }

    async fn increment(&mut self, key: String, by: i32, expiry_ms: Option<u32>) -> Answer<i32> {
        let result = async {
            let (store, scope) = self.state(&[&key])?;
            Ok(store.increment(&scope, &key, by, expiry(expiry_ms)).await?)
        };
        answer(result.await)
    }

    async fn remove(&mut self, key: String) -> Answer<bool> {
        let result = async {
            let (store, scope) = self.state(&[&key])?;
            Ok(store.delete(&scope, &key).await?)
        };
        answer(result.await)
    }
}
