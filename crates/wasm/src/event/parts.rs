//! For benchmarks alone: the parts of an event, one after the other and each timed.

use std::time::{Duration, Instant};

use callgate_core::failure::ListenerFailure;

use crate::abi::v0_1::HookEvent;

use super::instance::EventInstance;
use super::{EventRunner, Served};

/// The longest that any of it may take.
const DEADLINE: Duration = Duration::from_secs(60);

impl EventRunner {
    /// Makes so many instances, and then puts that question to each: twice, which no listener does.
    ///
    /// The parts are those of [`PARTS`](crate::bench::PARTS).
    pub(crate) async fn parts<E: HookEvent>(
        &self,
        count: usize,
        question: impl Fn() -> E,
    ) -> Result<Vec<[Duration; 8]>, ListenerFailure> {
        let served: &Served = &self.served;
        let end = Instant::now() + DEADLINE;
        let mut made = Vec::with_capacity(count);
        for _ in 0..count {
            let (store, mut instance) = timed(|| EventInstance::blank(served, None, end));
            let begun = Instant::now();
            let prepared = instance.prepare(served).await;
            let created = begun.elapsed();
            prepared.map_err(|fault| instance.failure(fault, DEADLINE))?;
            let rehearsed = instance.rehearse(served).await;
            let rehearsal = begun.elapsed().saturating_sub(created);
            rehearsed.map_err(|fault| instance.failure(fault, DEADLINE))?;
            made.push(([store, created, rehearsal], instance));
        }
        let mut all = Vec::with_capacity(count);
        for ([store, created, rehearsal], mut instance) in made {
            let (asking, event) = timed(&question);
            let (begin, ()) = timed(|| instance.begin(served, None, end));
            let mut asked = [Duration::ZERO; 2];
            for time in &mut asked {
                let begun = Instant::now();
                let answer = instance.ask(&event).await;
                *time = begun.elapsed();
                answer.map_err(|fault| instance.failure(fault, DEADLINE))?;
            }
            let [ask, again] = asked;
            let (dropped, ()) = timed(|| drop(instance));
            all.push([store, created, rehearsal, asking, begin, ask, again, dropped]);
        }
        Ok(all)
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let begun = Instant::now();
    let done = work();
    (begun.elapsed(), done)
}
