//! Threads for events that are to keep nobody from the host's own.

use std::io;
use std::thread::available_parallelism;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};

/// How little these threads matter to the system's scheduler beside the others of this process, as far as it can be told:
/// they get what is left, and a quarter of a processor when nothing is.
#[cfg(target_os = "linux")]
const NICE: i32 = 5;

/// How many operations of one listener on files may wait for the system at the same time.
const FILES: usize = 16;

/// Some threads. They end with it, and with them whatever still runs there.
#[derive(Debug)]
pub(crate) struct Lane(Option<Runtime>);

impl Lane {
    /// The slow lane, where events go on that take long.
    pub(crate) fn slow() -> io::Result<Self> {
        let mut lane = Builder::new_multi_thread();
        lane.worker_threads(slow_threads()).thread_name("callgate-slow").on_thread_start(step_back);
        Self::start(&mut lane)
    }

    /// The threads of one listener that has folders. Opening a pipe, or a file on a server that is gone, keeps a thread for as
    /// long as the system likes, and those of the host's pool are there for everybody.
    pub(crate) fn of_files() -> io::Result<Self> {
        let mut lane = Builder::new_multi_thread();
        lane.worker_threads(1).max_blocking_threads(FILES).thread_name("callgate-files");
        Self::start(&mut lane)
    }

    fn start(lane: &mut Builder) -> io::Result<Self> {
        lane.enable_all().build().map(|runtime| Self(Some(runtime)))
    }

    /// Where to spawn.
    pub(crate) fn handle(&self) -> Option<&Handle> {
        self.0.as_ref().map(Runtime::handle)
    }
}

impl Drop for Lane {
    /// Waits for nothing: the last listener may be dropped by a task of the host.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// How many threads the slow lane has.
pub(crate) fn slow_threads() -> usize {
    let processors = available_parallelism().map_or(1, usize::from);
    (processors / 2).max(1)
}

/// Linux counts niceness by thread. Elsewhere it is the whole process's, so the threads stay like all others.
fn step_back() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICE) {
        tracing::debug!(%error, "long events run with the priority of all others");
    }
}

/// The processor time that this thread has had, in microseconds; where the system does not say, the time that has passed.
pub(crate) fn processor_time() -> u64 {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    let time = {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(time).unwrap_or_default()
    };
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    let time = {
        static START: std::sync::LazyLock<std::time::Instant> = std::sync::LazyLock::new(std::time::Instant::now);
        START.elapsed()
    };
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn f2_the_slow_lane_steps_back_behind_the_host() {
        let lane = Lane::slow().unwrap();
        let (send, nice) = std::sync::mpsc::channel();
        lane.handle().unwrap().spawn(async move { send.send(rustix::process::getpriority_process(None)) });
        assert_eq!(nice.recv().unwrap().unwrap(), NICE);
        assert_eq!(rustix::process::getpriority_process(None).unwrap(), 0, "only these threads");
    }
}
