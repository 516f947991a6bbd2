//! The thread that makes instances ahead of their events, and drops those that have had theirs.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// How long work is left alone after it arrived: a call has several events, and none of them should share the memory bus, and
/// the lock of the address space, with the work that the one before it left behind.
const LINGER: Duration = Duration::from_micros(100);

/// Something to be done behind the answer.
pub(crate) type Chore = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Where chores are left.
#[derive(Clone, Debug)]
pub(crate) struct Keeper(UnboundedSender<Chore>);

impl Keeper {
    /// Starts the thread. It ends with the last of its handles.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let (sender, chores) = mpsc::unbounded_channel();
        thread::Builder::new().name("callgate-keeper".into()).spawn(move || runtime.block_on(work(chores)))?;
        Ok(Self(sender))
    }

    /// Leaves something to be done. Without a thread that would do it, it is dropped here and now.
    pub(crate) fn leave(&self, chore: impl Future<Output = ()> + Send + 'static) {
        let _ = self.0.send(Box::pin(chore));
    }
}

async fn work(mut chores: UnboundedReceiver<Chore>) {
    while let Some(chore) = chores.recv().await {
        linger();
        // A guest that hangs in its preparation gives way with every tick, so the others' chores go on beside it.
        tokio::spawn(chore);
        while let Ok(chore) = chores.try_recv() {
            tokio::spawn(chore);
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "the thread is there for this work alone, and it is to begin later")]
fn linger() {
    thread::sleep(LINGER);
}
