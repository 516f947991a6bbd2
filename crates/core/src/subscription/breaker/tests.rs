use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::failure::InvalidDecision;
use crate::json::{Entry, Json};
use crate::testing;

const LIMITS: BreakerLimits =
    BreakerLimits { failures: 3, pause: Duration::from_secs(1), longest_pause: Duration::from_secs(3) };

type Answer = Result<(), ListenerFailure>;

fn trap() -> Answer {
    Err(ListenerFailure::Trap { detail: "unreachable".into(), stderr: String::new() })
}

/// One event that ends like that; whether it was run.
fn event(breakers: &Breakers, question: Question<'_>, answer: &Answer, now: Instant) -> bool {
    breakers.admit(question, now).map(|pass| pass.settle(answer, now)).is_ok()
}

fn seconds(start: Instant, seconds: u64) -> Instant {
    start + Duration::from_secs(seconds)
}

#[test]
fn f6_it_opens_after_failures_in_a_row_and_tries_again_by_itself() {
    let (breakers, start) = (Breakers::new(LIMITS), Instant::now());
    let ada = testing::caller("ada", &[]);
    let question = Question::BeforeCall(&ada, "write");
    for answer in [trap(), trap(), Ok(()), trap(), trap()] {
        assert!(event(&breakers, question, &answer, start), "an answer in between begins the row anew");
    }
    let opened = breakers.admit(question, start).unwrap().settle(&trap(), start);
    assert_eq!(opened, Some(Change::Opened { pause: LIMITS.pause }));

    let suspended = breakers.admit(question, start).unwrap_err();
    assert_eq!(suspended, ListenerFailure::Suspended { failures: 3, last: "trap" });
    // Tries at 1, 3 and 6 seconds: the pause doubles, up to its bound.
    for (at, pause) in [(1, 2), (3, 3), (6, 3)] {
        let now = seconds(start, at);
        assert!(breakers.admit(question, now - Duration::from_millis(1)).is_err(), "before {at} s");
        let change = breakers.admit(question, now).unwrap().settle(&trap(), now);
        assert_eq!(change, Some(Change::Opened { pause: Duration::from_secs(pause) }), "at {at} s");
    }
    let now = seconds(start, 9);
    let closed = breakers.admit(question, now).unwrap().settle(&Ok(()), now);
    assert_eq!(closed, Some(Change::Closed { suspended: 4 }));
    assert_eq!(breakers.suspended(), 4);
    assert!(breakers.table().is_empty(), "what has answered leaves nothing behind");
}

#[test]
fn f6_a_new_token_of_the_same_caller_meets_the_same_breaker() {
    let (breakers, start) = (Breakers::new(LIMITS), Instant::now());
    let identity = |subject: &str, token: &str| Identity {
        claims: vec![Entry { key: "jti".into(), value: Json::string(token) }],
        roles: vec![token.to_owned()],
        ..testing::caller(subject, &[]).identity().clone()
    };
    let caller = |subject: &str, token: &str| Caller::new(identity(subject, token)).unwrap();
    for token in ["1", "2", "3"] {
        assert!(event(&breakers, Question::Grant(&caller("ada", token)), &trap(), start));
    }
    assert!(!event(&breakers, Question::Grant(&caller("ada", "4")), &trap(), start));
    assert!(event(&breakers, Question::Grant(&caller("bob", "4")), &trap(), start));
}

#[test]
fn f6_one_event_tries_and_a_try_that_is_dropped_is_given_back() {
    let (breakers, start) = (Breakers::new(LIMITS), Instant::now());
    let ada = testing::caller("ada", &[]);
    let question = Question::Grant(&ada);
    while event(&breakers, question, &trap(), start) {}
    let now = seconds(start, 1);
    let probe = breakers.admit(question, now).unwrap();
    assert!(breakers.admit(question, seconds(start, 60)).is_err(), "however long the one try takes");
    drop(probe);
    let probe = breakers.admit(question, now).unwrap();
    assert!(breakers.admit(question, now).is_err());
    // It found no place, so nothing is known: the next one tries.
    assert_eq!(probe.settle::<()>(&Err(ListenerFailure::Overload), now), None);
    let probe = breakers.admit(question, now).unwrap();
    assert!(matches!(probe.settle(&Ok(()), now), Some(Change::Closed { .. })));
}

#[test]
fn f6_events_that_began_before_it_opened_change_nothing_any_more() {
    let (breakers, start) = (Breakers::new(LIMITS), Instant::now());
    let ada = testing::caller("ada", &[]);
    let question = Question::Grant(&ada);
    let [late_failure, late_answer] = [(); 2].map(|()| breakers.admit(question, start).unwrap());
    while event(&breakers, question, &trap(), start) {}
    assert_eq!(late_failure.settle(&trap(), start), None);
    assert_eq!(late_answer.settle(&Ok(()), start), None);
    assert!(breakers.admit(question, start).is_err());
    assert!(breakers.admit(question, seconds(start, 1)).is_ok(), "the pause is still the first one");
}

#[test]
fn f6_only_what_costs_counts() {
    let text = String::new;
    let ada = testing::caller("ada", &[]);
    let costs = [
        trap(),
        Err(ListenerFailure::Exit { code: 0, stderr: text() }),
        Err(ListenerFailure::Panic(text())),
        Err(ListenerFailure::Deadline(Duration::ZERO)),
        Err(ListenerFailure::Limit { limit: "memory", stderr: text() }),
        Err(ListenerFailure::BadReturn(text())),
        Err(ListenerFailure::Instantiation(text())),
    ];
    let does_not = [
        Err(ListenerFailure::Returned(text())),
        Err(ListenerFailure::InvalidDecision(InvalidDecision::EmptyReason)),
        Err(ListenerFailure::Overload),
        Err(ListenerFailure::NotLoaded(text())),
    ];
    let run = |answer: &Answer, question, limits| {
        let (breakers, now) = (Breakers::new(limits), Instant::now());
        (0..100).filter(|_| event(&breakers, question, answer, now)).count()
    };
    for answer in costs {
        assert_eq!(run(&answer, Question::Grant(&ada), LIMITS), 3, "{answer:?}");
        assert_eq!(run(&answer, Question::BeforeCall(&ada, "write"), LIMITS), 3, "{answer:?}");
        // A caller that could suspend a report could act unrecorded.
        assert_eq!(run(&answer, Question::AfterCall, LIMITS), 100, "{answer:?}");
        assert_eq!(run(&answer, Question::Grant(&ada), BreakerLimits { failures: 0, ..LIMITS }), 100, "switched off");
    }
    for answer in does_not {
        assert_eq!(run(&answer, Question::Grant(&ada), LIMITS), 100, "{answer:?}");
    }
}

#[test]
fn f6_nobody_pushes_out_a_caller_that_has_fewer_failures() {
    let breakers = Breakers { table: Mutex::new(Table::new(8)), ..Breakers::new(LIMITS) };
    let start = Instant::now();
    let [ada, mallory] = ["ada", "mallory"].map(|name| testing::caller(name, &[]));
    let adas = Question::BeforeCall(&ada, "write");
    while event(&breakers, adas, &trap(), start) {}
    for number in 0..1_000 {
        let (tool, now) = (format!("tool{number}"), start + Duration::from_micros(number));
        while event(&breakers, Question::BeforeCall(&mallory, &tool), &trap(), now) {}
        assert!(breakers.table().len() <= 8);
    }
    assert!(breakers.admit(adas, start).is_err(), "it is still open");
    assert!(breakers.admit(Question::BeforeCall(&mallory, "tool999"), start).is_err(), "the newest is kept");
}

/// One step of many callers over one listener.
#[derive(Clone, Debug)]
enum Act {
    Begin {
        caller: usize,
        tool: usize,
    },
    /// The event of that number, counted around those that are under way, ends like that; none for one that is dropped.
    End {
        event: usize,
        ending: Option<Answer>,
    },
    Wait {
        milliseconds: u64,
    },
}

fn act() -> impl Strategy<Value = Act> {
    let ending = prop_oneof![
        6 => Just(Some(trap())),
        2 => Just(Some(Ok(()))),
        1 => Just(Some(Err(ListenerFailure::Overload))),
        1 => Just(None),
    ];
    prop_oneof![
        4 => (0..3_usize, 0..2_usize).prop_map(|(caller, tool)| Act::Begin { caller, tool }),
        4 => (0..100_usize, ending).prop_map(|(event, ending)| Act::End { event, ending }),
        1 => (0..1_500_u64).prop_map(|milliseconds| Act::Wait { milliseconds }),
    ]
}

proptest! {
    /// The model is a listener that only one caller ever asks, and about one tool: whatever the others do, nobody can tell
    /// the difference. Beside that no breaker is ever tried twice at once, and none is kept for a question without failures.
    #[test]
    fn f6_no_caller_notices_what_others_do(acts in prop::collection::vec(act(), 0..400)) {
        const TOOLS: [&str; 2] = ["read", "write"];
        let callers = ["ada", "bob", "eve"].map(|name| testing::caller(name, &[]));
        let shared = Breakers::new(LIMITS);
        let alone: [[Breakers; 2]; 3] = Default::default();
        let mut under_way: Vec<(usize, usize, Pass<'_>, Pass<'_>)> = Vec::new();
        let mut now = Instant::now();
        for act in acts {
            match act {
                Act::Begin { caller, tool } => {
                    let question = Question::BeforeCall(&callers[caller], TOOLS[tool]);
                    match (shared.admit(question, now), alone[caller][tool].admit(question, now)) {
                        (Ok(pass), Ok(other)) => {
                            prop_assert_eq!(pass.probe.is_some(), other.probe.is_some());
                            under_way.push((caller, tool, pass, other));
                        }
                        (Err(suspended), Err(other)) => prop_assert_eq!(suspended, other),
                        (one, other) => prop_assert!(false, "{:?} beside {:?}", one, other),
                    }
                    let tries = |it: &&(usize, usize, Pass<'_>, Pass<'_>)| (it.0, it.1) == (caller, tool) && it.2.probe.is_some();
                    prop_assert!(under_way.iter().filter(tries).count() <= 1);
                }
                Act::End { event, ending } if !under_way.is_empty() => {
                    let (_, _, pass, other) = under_way.remove(event % under_way.len());
                    if let Some(ending) = ending {
                        prop_assert_eq!(pass.settle(&ending, now), other.settle(&ending, now));
                    }
                }
                Act::End { .. } => {}
                Act::Wait { milliseconds } => now += Duration::from_millis(milliseconds),
            }
        }
        let rows: usize = alone.iter().flatten().map(|it| it.table().len()).sum();
        prop_assert_eq!(shared.table().len(), rows);
    }
}

impl Default for Breakers {
    fn default() -> Self {
        Self::new(LIMITS)
    }
}
