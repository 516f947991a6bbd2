//! `callgate:host/config`: the listener's own values.

use crate::abi::v0_1::bindings::callgate::host::config::Host;
use crate::event::EventState;

impl Host for EventState {
    async fn get(&mut self, key: String) -> wasmtime::Result<Option<String>> {
        Ok(self.grants.config.get(&key).map(|value| value.as_str().to_owned()))
    }
}
