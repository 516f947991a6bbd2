//! `wasi:clocks/wall-clock`, which has no error value: a time that is wrong would be believed, and what expires would not.

use wasmtime_wasi::clocks::WasiClocksView;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::{Datetime, Host};

use crate::event::EventState;

use super::Capability;

impl Host for EventState {
    fn now(&mut self) -> wasmtime::Result<Datetime> {
        self.need(Capability::Clocks, "wasi:clocks/wall-clock#now")?;
        Host::now(&mut self.clocks())
    }

    fn resolution(&mut self) -> wasmtime::Result<Datetime> {
        Host::resolution(&mut self.clocks())
    }
}
