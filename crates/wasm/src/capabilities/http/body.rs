//! Bodies that end in an error when they are larger or slower than granted.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};
use wasmtime_wasi_http::{Error, WasiBody};

type Piece = Option<Result<Frame<Bytes>, Error>>;

/// Takes a piece out of what a body may have. False if it has not that much.
fn take(left: &mut u64, frame: &Frame<Bytes>) -> bool {
    let size = frame.data_ref().map_or(0, |data| data.len() as u64);
    let rest = left.checked_sub(size);
    *left = rest.unwrap_or(0);
    rest.is_some()
}

/// What a guest sends.
pub(super) struct RequestBody {
    body: WasiBody,
    left: u64,
    most: u64,
    /// Set when there was more. The error itself is lost on its way through the connection.
    over: Arc<AtomicBool>,
}

impl RequestBody {
    pub(super) fn new(body: WasiBody, most: u64, over: Arc<AtomicBool>) -> Self {
        Self { body, left: most, most, over }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Piece> {
        let piece = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &piece
            && !take(&mut self.left, frame)
        {
            self.over.store(true, Ordering::Relaxed);
            return Poll::Ready(Some(Err(Error::HttpRequestBodySize(Some(self.most)))));
        }
        Poll::Ready(piece)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// What a server answers.
pub(super) struct ResponseBody {
    body: hyper::body::Incoming,
    left: u64,
    most: u64,
    /// When the whole exchange has to be over.
    until: Instant,
    /// How long the guest wants to wait for a piece.
    pause: Option<Duration>,
    sleep: Pin<Box<Sleep>>,
}

impl ResponseBody {
    pub(super) fn new(body: hyper::body::Incoming, most: u64, until: Instant, pause: Option<Duration>) -> Self {
        Self { body, left: most, most, until, pause, sleep: Box::pin(sleep_until(next(until, pause))) }
    }
}

fn next(until: Instant, pause: Option<Duration>) -> Instant {
    let piece = pause.and_then(|pause| Instant::now().checked_add(pause));
    piece.map_or(until, |piece| piece.min(until))
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Piece> {
        let Poll::Ready(piece) = Pin::new(&mut self.body).poll_frame(context) else {
            ready!(self.sleep.as_mut().poll(context));
            let over = Instant::now() >= self.until;
            return Poll::Ready(Some(Err(if over {
                Error::HttpResponseTimeout
            } else {
                Error::ConnectionReadTimeout
            })));
        };
        Poll::Ready(match piece {
            Some(Ok(frame)) if !take(&mut self.left, &frame) => Some(Err(Error::HttpResponseBodySize(Some(self.most)))),
            // A server that sends little by little, without end, does not need more time by it.
            Some(Ok(_)) if Instant::now() >= self.until => Some(Err(Error::HttpResponseTimeout)),
            Some(Ok(frame)) => {
                let wake = next(self.until, self.pause);
                self.sleep.as_mut().reset(wake);
                Some(Ok(frame))
            }
            // The connection ends at that moment too, and which of the two is seen first is chance.
            Some(Err(_)) if Instant::now() >= self.until => Some(Err(Error::HttpResponseTimeout)),
            Some(Err(_)) => Some(Err(Error::HttpResponseIncomplete)),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
