//! Where a guest's standard output and standard error go.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::{self, AsyncWrite};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// What a guest may write at once.
const PERMIT: usize = 64 << 10;

/// Takes whatever is written and keeps the end of it. It is never full: a guest that panics because nobody takes its output
/// would turn the amount of its logging into a failure.
#[derive(Clone, Debug)]
pub(crate) struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    size: usize,
}

impl Tail {
    /// A tail of at most so many bytes.
    pub(crate) fn new(size: usize) -> Self {
        Self { kept: Arc::default(), size }
    }

    fn push(&self, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let end = bytes.split_at(bytes.len().saturating_sub(self.size)).1;
        let excess = (kept.len() + end.len()).saturating_sub(self.size);
        kept.drain(..excess);
        kept.extend(end);
    }

    /// Forgets what was written.
    pub(crate) fn clear(&self) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The end of what was written, as text.
    pub(crate) fn text(&self) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }
}

impl IsTerminal for Tail {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Tail {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl OutputStream for Tail {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.push(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

#[async_trait]
impl Pollable for Tail {
    async fn ready(&mut self) {}
}

impl AsyncWrite for Tail {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.push(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f1_only_the_end_of_the_output_is_kept() {
        let tail = Tail::new(8);
        tail.push(b"0123456789");
        assert_eq!(tail.text(), "23456789");
        tail.push(b"ab");
        assert_eq!(tail.text(), "456789ab");
    }

    #[test]
    fn a_character_that_was_cut_is_replaced() {
        let tail = Tail::new(2);
        tail.push("aé€".as_bytes());
        assert_eq!(tail.text(), "\u{fffd}\u{fffd}");
    }
}
