//! Guests that fail at one event and at no other.

use callgate_kit::imports::STATE;
use callgate_wasm::Hook;

use super::{Alone, run};
use crate::hostile::guests::PASS;
use crate::hostile::rig::only;
use crate::hostile::{INTERNAL, NOT_VERIFIED};

/// Traps when it is asked for the `nth` time, which it knows from the state store.
async fn traps_on(nth: usize, hook: Hook) -> Alone {
    let body = format!(
        "(call $increment (i32.const 1024) (i32.const 5) (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 64))
         (if (i32.eq (i32.load (i32.const 68)) (i32.const {nth})) (then unreachable))
         {PASS}"
    );
    let items = format!("{STATE} (data (i32.const 1024) \"asked\")");
    Alone::with(&items, [&body; 3], |guest| guest.asked(only(hook))).await
}

async fn fails_at_one_event(nth: usize) {
    for (hook, gets) in [(Hook::Grant, Some(NOT_VERIFIED)), (Hook::BeforeCall, Some(INTERNAL)), (Hook::AfterCall, None)]
    {
        let guest = traps_on(nth, hook).await;
        let mut runs = 0;
        for number in 1..=5 {
            let expected = gets.filter(|_| number == nth).map_or_else(
                || {
                    runs += 1;
                    run(runs)
                },
                str::to_owned,
            );
            assert_eq!(guest.call().await, expected, "{hook}, call {number}");
        }
        assert_eq!(guest.failures(), 1, "{hook}");
        assert_eq!(guest.runs.runs(), runs as u64, "{hook}");
        assert_eq!(guest.kept("asked").await.as_deref(), Some("5"), "{hook}");
    }
}

#[tokio::test]
async fn f2_trap_once() {
    fails_at_one_event(1).await;
}

#[tokio::test]
async fn f2_trap_on_nth() {
    fails_at_one_event(3).await;
}
