//! A writer that never waits: lines are kept, and a thread of its own writes them.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How many bytes may wait to be written. A line that has no room in them is lost, and the log says how many were.
const MOST_BYTES: usize = 4 << 20;
/// How long the end waits for lines that are not written yet.
const PATIENCE: Duration = Duration::from_secs(1);

/// Where lines are written to.
#[derive(Clone, Debug, Default)]
pub(super) struct Behind(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

/// What is not written yet.
#[derive(Debug, Default)]
struct Waiting {
    text: Vec<u8>,
    lost: u64,
    /// Whether the thread is writing what it took from here.
    writing: bool,
}

impl Behind {
    /// Begins to write lines to that output. What is said when lines were lost goes to `tell`.
    pub(super) fn start(
        mut output: impl Write + Send + 'static,
        tell: impl Fn(u64) + Send + 'static,
    ) -> io::Result<Self> {
        let this = Self::default();
        let shared = this.0.clone();
        thread::Builder::new().name("log".into()).spawn(move || {
            let mut text = Vec::new();
            loop {
                let lost = shared.take(&mut text);
                // Whoever does not read the log is told nothing by it, and there is nobody else to tell.
                let _ = output.write_all(&text).and_then(|()| output.flush());
                if lost > 0 {
                    tell(lost);
                }
            }
        })?;
        Ok(this)
    }

    /// Waits until everything is written, but not for long: the reader may never come.
    pub(super) fn flush(&self) {
        let waiting = self.0.lock();
        let unwritten = |waiting: &mut Waiting| waiting.writing || !waiting.text.is_empty();
        drop(self.0.changed.wait_timeout_while(waiting, PATIENCE, unwritten));
    }
}

impl Write for Behind {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.0.lock();
        if waiting.text.len().saturating_add(line.len()) > MOST_BYTES {
            waiting.lost = waiting.lost.saturating_add(1);
        } else {
            waiting.text.extend_from_slice(line);
            self.0.changed.notify_all();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Shared {
    /// Waits for lines, puts them into `text` in place of what is there, and gives how many were lost since the last time.
    fn take(&self, text: &mut Vec<u8>) -> u64 {
        text.clear();
        let mut waiting = self.lock();
        waiting.writing = false;
        self.changed.notify_all();
        let waiting = self.changed.wait_while(waiting, |waiting| waiting.text.is_empty());
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        waiting.writing = true;
        std::mem::swap(&mut waiting.text, text);
        std::mem::take(&mut waiting.lost)
    }

    /// Nothing is left half done when a thread panics with the lock.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// An output whose reader reads when the test says so.
    struct Reader(mpsc::SyncSender<Vec<u8>>);

    impl Write for Reader {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0.send(text.to_vec()).map_err(io::Error::other)?;
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_are_written_in_order() {
        let (sender, receiver) = mpsc::sync_channel(100);
        let mut log = Behind::start(Reader(sender), |_| {}).unwrap();
        for line in ["one\n", "two\n", "three\n"] {
            log.write_all(line.as_bytes()).unwrap();
        }
        Behind::flush(&log);
        let written: Vec<u8> = receiver.try_iter().flatten().collect();
        assert_eq!(written, b"one\ntwo\nthree\n");
    }

    #[test]
    fn f2_who_does_not_read_stops_nobody_and_is_told_what_was_lost() {
        let (sender, receiver) = mpsc::sync_channel(0);
        let (tell, told) = mpsc::channel();
        let mut log = Behind::start(Reader(sender), move |lost| tell.send(lost).unwrap()).unwrap();
        let line = vec![b'x'; 1 << 20];
        // The first is taken by the thread, which then waits with it; the bound holds four more.
        log.write_all(&line).unwrap();
        while !log.0.lock().text.is_empty() {
            thread::yield_now();
        }
        for _ in 0..7 {
            log.write_all(&line).unwrap();
        }
        assert_eq!(receiver.recv().unwrap().len(), 1 << 20);
        assert_eq!(receiver.recv().unwrap().len(), 4 << 20);
        assert_eq!(told.recv().unwrap(), 3);
    }

    #[test]
    fn the_end_does_not_wait_for_a_reader_that_never_comes() {
        let (sender, _receiver) = mpsc::sync_channel(0);
        let mut log = Behind::start(Reader(sender), |_| {}).unwrap();
        log.write_all(b"never read").unwrap();
        Behind::flush(&log);
    }
}
