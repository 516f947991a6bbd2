//! `callgate:host/state` over the host's state store.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use callgate_core::StateStore;
use callgate_core::state::StateError;
use tokio::time::{Instant, timeout_at};

use crate::abi::v0_1::bindings::callgate::host::state::{Error, Host};
use crate::event::EventState;
use crate::limits::LimitExceeded;

use super::Capability;

/// One call: the store, the listener's scope in it, and how long it may take.
struct Call {
    store: Arc<dyn StateStore>,
    scope: Arc<str>,
    until: Instant,
}

impl Call {
    /// A store that does not answer costs the guest a part of its time and not all of it. Whether what was asked is done
    /// nevertheless is not known then, as with every store that can not be reached.
    async fn answer<T>(&self, answer: impl Future<Output = Result<T, StateError>>) -> Result<T, Refusal> {
        match timeout_at(self.until, answer).await {
            Ok(answer) => Ok(answer?),
            Err(_) => Err(StateError::Unavailable("the store did not answer in time".into()).into()),
        }
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
    /// A call, if the listener may use the store and has not used it too much.
    fn state(&mut self, texts: &[&str]) -> Result<Call, Refusal> {
        if !self.grants.may(Capability::State) {
            return Err(Refusal::Answer(Error::Denied));
        }
        self.meter.take_state(texts.iter().map(|text| text.len()).sum())?;
        let store = match self.is_rehearsal() {
            true => self.uses.scratch.store(),
            false => self.grants.state.clone(),
        };
        Ok(Call { store, scope: self.grants.listener.clone(), until: self.uses.patience.until(None) })
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
            let call = self.state(&[&key])?;
            let value = call.answer(call.store.get(&call.scope, &key)).await?;
            self.received(value)
        };
        answer(result.await)
    }

    async fn set(&mut self, key: String, value: String, expiry_ms: Option<u32>) -> Answer<()> {
        let result = async {
            let call = self.state(&[&key, &value])?;
            call.answer(call.store.set(&call.scope, &key, &value, expiry(expiry_ms))).await
        };
        answer(result.await)
    }

    async fn put_if_absent(&mut self, key: String, value: String, expiry_ms: Option<u32>) -> Answer<Option<String>> {
        let result = async {
            let call = self.state(&[&key, &value])?;
            let existing = call.answer(call.store.put_if_absent(&call.scope, &key, &value, expiry(expiry_ms))).await?;
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
            let call = self.state(&texts)?;
            let swapped = call.store.compare_and_swap(&call.scope, &key, expected, replacement, expiry(expiry_ms));
            call.answer(swapped).await
        };
        answer(result.await)
    }

    async fn increment(&mut self, key: String, by: i32, expiry_ms: Option<u32>) -> Answer<i32> {
        let result = async {
            let call = self.state(&[&key])?;
            call.answer(call.store.increment(&call.scope, &key, by, expiry(expiry_ms))).await
        };
        answer(result.await)
    }

    async fn remove(&mut self, key: String) -> Answer<bool> {
        let result = async {
            let call = self.state(&[&key])?;
            call.answer(call.store.delete(&call.scope, &key)).await
        };
        answer(result.await)
    }
}
