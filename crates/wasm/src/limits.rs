//! What one event may take.

mod meter;
mod tail;

use std::time::Duration;

pub(crate) use meter::{LimitExceeded, Meter};
pub(crate) use tail::Tail;

/// The limits of one event of one listener. Every one of them is enforced: over it, the event has failed and the listener's
/// failure names the limit. The guest's stack is the same for all: 512 KiB.
///
/// The defaults leave room for guests in JavaScript and Python, which start with 9 to 13 MiB of memory, up to 38 core
/// instances and tables of about 8,000 elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxLimits {
    /// The time for a grant or before-call event, from the start of its instance on. Waiting for a free place may take as
    /// long again. Default 50 ms.
    pub decision_deadline: Duration,
    /// The same for an after-call event. Default 250 ms.
    pub report_deadline: Duration,
    /// Bytes of linear memory, summed over all memories. Default 64 MiB. Limit `memory`.
    pub memory: usize,
    /// Elements of tables, summed over all tables. Default 20,000. Limit `tables`.
    pub table_elements: usize,
    /// Core instances. Default 64. Limit `instances`.
    pub instances: usize,
    /// Handles of resources that are open at one moment. Default 1,000. Limit `handles`.
    pub handles: usize,
    /// Bytes that one host call may take out of the guest, and the return of the hook as well. Default 8 MiB. Limit
    /// `hostcall-fuel`.
    pub hostcall_fuel: usize,
    /// Bytes of the arguments, and of the reply, that are handed over as they are. What is larger reaches the guest as its
    /// size and digest (F4). Default 1 MiB.
    pub payload: usize,
    /// Bytes of all texts in a decision together. Default 1 MiB. Limit `output`. The patterns of a grant decision have at most
    /// 16 KiB of it, whatever this says, because the host tries them on every row: limit `patterns`.
    pub output: usize,
    /// Bytes of the end of standard output and standard error that are kept for the record of a failure; what comes before
    /// is taken and forgotten. Default 16 KiB.
    pub stderr: usize,
    /// Bytes of log lines; what comes after is dropped. Default 64 KiB.
    pub log: usize,
    /// Bytes of keys and values that an event may move through the state store. Default 16 MiB. Limit `state`.
    pub state: usize,
    /// Calls to the host, those of WASI included. A guest meets this one with the next tick of 5 ms at the latest. Default
    /// 100,000. Limit `host-calls`.
    pub host_calls: usize,
    /// Events of the listener that may run at the same time. Others wait, for as long as their deadline. Those that take long
    /// go on in the slow lane, which has half as many places besides; they keep theirs while they wait for one of those.
    /// Default 16: a quarter of what the sandbox runs, so that a listener that hangs leaves room for the others.
    pub concurrency: usize,
    /// Instances that are made ahead of their events, as far as the sandbox has room for them. They hold their memory: a small
    /// one in Rust some 100 KiB, one in JavaScript 2 MiB, one in Python 5 MiB. With none, every event waits for its instance.
    /// Default 4.
    pub ready: usize,
    /// The time in which an instance that is made ahead has to be ready. Default 1 s.
    pub preparation_deadline: Duration,
}

impl Default for SandboxLimits {
    fn default() -> Self {
        Self {
            decision_deadline: Duration::from_millis(50),
            report_deadline: Duration::from_millis(250),
            memory: 64 << 20,
            table_elements: 20_000,
            instances: 64,
            handles: 1_000,
            hostcall_fuel: 8 << 20,
            payload: 1 << 20,
            output: 1 << 20,
            stderr: 16 << 10,
            log: 64 << 10,
            state: 16 << 20,
            host_calls: 100_000,
            concurrency: 16,
            ready: 4,
            preparation_deadline: Duration::from_secs(1),
        }
    }
}
