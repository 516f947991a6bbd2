//! Fresh instances without a pause in which they could be made ahead: calls a second, and processor time for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use callgate_core::grant::GrantedCall;
use callgate_core::listener::Listener;
use callgate_core::testing::granted_call;
use callgate_tests::usage;

use crate::guests::{BEFORE_CALL, Guest};
use crate::measure::Table;
use crate::native::Native;
use crate::one_event::{SMALL, proceeds};

const CALLERS: [usize; 3] = [1, 2, 8];
/// Each is measured so often, in turn, and so long each time.
const TURNS: usize = 3;
const TURN: Duration = Duration::from_millis(700);

/// What was counted while callers called back to back.
#[derive(Clone, Copy, Default)]
struct Load {
    events: f64,
    seconds: f64,
    processor: f64,
}

pub(crate) async fn measure(guests: &[Guest]) -> Table {
    let mut table = Table::new("before-call events back to back", &["calls/s", "µs each", "µs of CPU each"]);
    let native: (&str, Arc<dyn Listener>) = ("native", Arc::new(Native(BEFORE_CALL)));
    let listeners = guests.iter().map(|guest| (guest.name, guest.listener(BEFORE_CALL) as Arc<dyn Listener>));
    let call = Arc::new(granted_call("write", SMALL));
    for (name, listener) in std::iter::once(native).chain(listeners) {
        let mut loads = [Load::default(); CALLERS.len()];
        for turn in 0..=TURNS {
            for (load, callers) in loads.iter_mut().zip(CALLERS) {
                let measured = calling(&listener, &call, callers).await;
                // The first turn warms up.
                if turn > 0 {
                    load.add(measured);
                }
            }
        }
        for (load, callers) in loads.into_iter().zip(CALLERS) {
            let each = |seconds: f64| seconds * 1e6 / load.events;
            let at_once = each(load.seconds) * callers as f64;
            table.add(
                format!("{name}: {callers} at once"),
                vec![load.events / load.seconds, at_once, each(load.processor)],
            );
        }
    }
    table
}

async fn calling(listener: &Arc<dyn Listener>, call: &Arc<GrantedCall>, callers: usize) -> Load {
    let events = Arc::new(AtomicU64::new(0));
    let (begun, processor) = (Instant::now(), usage::processor_time());
    let calling = (0..callers).map(|_| {
        let (listener, call, events) = (listener.clone(), call.clone(), events.clone());
        tokio::spawn(async move {
            while begun.elapsed() < TURN {
                proceeds(listener.before_call(&call).await);
                events.fetch_add(1, Ordering::Relaxed);
                tokio::task::consume_budget().await;
            }
        })
    });
    for caller in calling.collect::<Vec<_>>() {
        caller.await.expect("every call proceeds");
    }
    let processor = usage::processor_time().saturating_sub(processor).as_secs_f64();
    Load { events: events.load(Ordering::Relaxed) as f64, seconds: begun.elapsed().as_secs_f64(), processor }
}

impl Load {
    fn add(&mut self, other: Self) {
        self.events += other.events;
        self.seconds += other.seconds;
        self.processor += other.processor;
    }
}
