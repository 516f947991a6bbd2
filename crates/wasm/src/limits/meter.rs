//! Counts what one event takes.

use wasmtime::ResourceLimiter;

use super::SandboxLimits;

/// A limit was exceeded in a host call. Ends the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("over the limit of {0}")]
pub(crate) struct LimitExceeded(pub(crate) &'static str);

/// What is left of an event's limits.
#[derive(Debug)]
pub(crate) struct Meter {
    memory: usize,
    table_elements: usize,
    instances: usize,
    state: usize,
    log: usize,
    host_calls: usize,
    refused: Option<&'static str>,
}

impl Meter {
    pub(crate) fn new(limits: &SandboxLimits) -> Self {
        Self {
            memory: limits.memory,
            table_elements: limits.table_elements,
            instances: limits.instances,
            state: limits.state,
            log: limits.log,
            host_calls: limits.host_calls,
            refused: None,
        }
    }

    /// Counts anew what an event may use. What the instance holds it goes on holding.
    pub(crate) fn begin_event(&mut self, limits: &SandboxLimits) {
        self.state = limits.state;
        self.log = limits.log;
        self.host_calls = limits.host_calls;
        self.refused = None;
    }

    /// Counts a host call. Where it can not be refused by itself, [`check_host_calls`](Self::check_host_calls) ends the event.
    pub(crate) fn count_host_call(&mut self) {
        self.host_calls = self.host_calls.saturating_sub(1);
    }

    /// Whether the guest may call the host again.
    pub(crate) fn check_host_calls(&self) -> Result<(), LimitExceeded> {
        if self.host_calls == 0 { Err(LimitExceeded("host-calls")) } else { Ok(()) }
    }

    /// The last limit that growing was refused for. A guest may live with that; if it fails afterwards, that is why.
    pub(crate) fn refused(&self) -> Option<&'static str> {
        self.refused
    }

    /// Takes bytes out of what may move through the state store.
    pub(crate) fn take_state(&mut self, bytes: usize) -> Result<(), LimitExceeded> {
        self.state = self.state.checked_sub(bytes).ok_or(LimitExceeded("state"))?;
        Ok(())
    }

    /// Takes bytes out of what may be logged, and tells whether there were that many.
    pub(crate) fn take_log(&mut self, bytes: usize) -> bool {
        let left = self.log.checked_sub(bytes);
        // A line that does not fit uses up the rest: what is logged is a beginning, without holes.
        self.log = left.unwrap_or(0);
        left.is_some()
    }
}

impl ResourceLimiter for Meter {
    // INVARIANT: the sum over all memories is bounded, not each memory: a component can have many.
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(take(&mut self.memory, &mut self.refused, "memory", desired.saturating_sub(current)))
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(take(&mut self.table_elements, &mut self.refused, "tables", desired.saturating_sub(current)))
    }

    fn instances(&self) -> usize {
        self.instances
    }
}

fn take(left: &mut usize, refused: &mut Option<&'static str>, limit: &'static str, amount: usize) -> bool {
    let Some(rest) = left.checked_sub(amount) else {
        *refused = Some(limit);
        return false;
    };
    *left = rest;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter() -> Meter {
        Meter::new(&SandboxLimits { memory: 100, table_elements: 10, state: 8, log: 8, ..SandboxLimits::default() })
    }

    #[test]
    fn f1_memories_are_summed() {
        let mut meter = meter();
        assert!(meter.memory_growing(0, 60, None).unwrap());
        assert!(!meter.memory_growing(0, 60, None).unwrap());
        assert_eq!(meter.refused(), Some("memory"));
        assert!(meter.memory_growing(60, 100, None).unwrap(), "what is left may still be taken");
    }

    #[test]
    fn f1_tables_are_summed() {
        let mut meter = meter();
        assert!(meter.table_growing(0, 10, None).unwrap());
        assert!(!meter.table_growing(0, 1, None).unwrap());
        assert_eq!(meter.refused(), Some("tables"));
    }

    #[test]
    fn f1_state_traffic_is_bounded() {
        let mut meter = meter();
        assert_eq!(meter.take_state(8), Ok(()));
        assert_eq!(meter.take_state(1), Err(LimitExceeded("state")));
    }

    #[test]
    fn a_log_has_no_holes() {
        let mut meter = meter();
        assert!(meter.take_log(6));
        assert!(!meter.take_log(3));
        assert!(!meter.take_log(1));
    }
}
