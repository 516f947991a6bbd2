//! Guests that say what they were told, so that a mix-up shows.

use std::collections::BTreeSet;

use callgate_core::testing::caller;
use callgate_kit::imports::RANDOM;

use super::Alone;
use crate::hostile::guests::{PASS, deny, narrow};

/// Where the caller's name lies: a pointer and a length within the call.
const SUBJECT: [&str; 2] = ["(i32.load offset=8 (local.get $call))", "(i32.load offset=12 (local.get $call))"];

#[tokio::test]
async fn f2_f5_echo_identity_as_a_before_call_listener() {
    let body = deny(SUBJECT[0], SUBJECT[1]);
    let guest = Alone::with("", [PASS, &body, PASS], |guest| guest).await;
    let calls = (0..64).map(|number| {
        let (dispatcher, subject) = (guest.dispatcher.clone(), format!("caller {number}"));
        let request = callgate_core::testing::request(Some(caller(&subject, &[])), "record", "{}");
        tokio::spawn(async move { (subject, super::said(dispatcher.call(request).await)) })
    });
    let calls: Vec<_> = calls.collect();
    for call in calls {
        let (subject, answer) = call.await.unwrap();
        let expected = format!(r#"{{"content":[{{"type":"text","text":"{subject}"}}],"isError":true}}"#);
        assert_eq!(answer, expected);
    }
    assert_eq!(guest.runs.runs(), 0);
}

#[tokio::test]
async fn f2_f5_echo_identity_as_a_grant_listener() {
    let body = narrow(&[("(local.get $subject)", "(local.get $length)")]);
    let guest = Alone::with("", [&body, PASS, PASS], |guest| guest).await;
    for subject in ["ada", "bob", "ada", "nobody's tool"] {
        let listing = guest.dispatcher.list(Some(caller(subject, &[]))).await;
        let names: Vec<_> = listing.tools.iter().map(|tool| tool.row.identifier.as_str()).collect();
        let expected = [subject].into_iter().filter(|name| ["ada", "bob"].contains(name));
        assert_eq!(names, expected.collect::<Vec<_>>());
    }
}

/// Every event of a guest whose memory was made ahead of time has randomness of its own.
#[tokio::test]
async fn f5_no_two_events_draw_the_same_random_number() {
    // Sixteen letters, one for each four bits.
    let body = format!(
        "(local $at i32) (local $number i64)
         (local.set $at (i32.const 1024)) (local.set $number (call $random))
         (loop $again
           (i32.store8 (local.get $at)
             (i32.add (i32.const 97) (i32.wrap_i64 (i64.and (local.get $number) (i64.const 15)))))
           (local.set $number (i64.shr_u (local.get $number) (i64.const 4)))
           (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 1))) (i32.const 1040))))
         {}",
        deny("(i32.const 1024)", "(i32.const 16)")
    );
    let guest = Alone::with(RANDOM, [PASS, &body, PASS], |guest| guest).await;
    let mut drawn = BTreeSet::new();
    for _ in 0..32 {
        drawn.insert(guest.call().await);
    }
    assert_eq!(drawn.len(), 32, "{drawn:?}");
}

/// An allocator that never frees dies of its 64th mebibyte, unless every event begins anew.
#[tokio::test]
async fn f5_an_allocator_that_never_frees_lasts_for_ever() {
    let guest = Alone::with("", [PASS; 3], |guest| guest).await;
    let arguments = format!(r#"{{"text":"{}"}}"#, "x".repeat(1_000_000));
    for number in 1..=80 {
        assert_eq!(guest.call_as("ada", &arguments).await, super::run(number));
    }
}
