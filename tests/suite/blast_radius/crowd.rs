//! A host with four bad listeners among its good ones, and calls that come all at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use callgate_core::permissions::Permissions;
use callgate_core::report::Ending;
use callgate_core::state::MemoryState;
use callgate_core::subscription::BreakerLimits;
use callgate_core::testing::{self, Scripted, caller};
use callgate_core::{Dispatcher, Outcome, StateStore};
use callgate_tests::host::{self, AMPLE, call};
use callgate_tests::misbehaving::{Vice, content};
use callgate_tests::tools::{Counting, numbered};
use callgate_wasm::{Hook, SandboxLimits};

/// Calls of one wave to the tool over which nobody misbehaves.
pub(super) const HEALTHY: u64 = 200;
/// Calls of one wave to each of the other four. As long as nobody knows better, each occupies a place of its listener until
/// the deadline, and a healthy call needs one of the 16 for a moment.
pub(super) const BAD: u64 = 8;

const INTERNAL: &str = "Error: An internal error occurred while executing the tool.";
const WORKS: &str = "works";

pub(super) struct Crowd {
    dispatcher: Dispatcher,
    hook: Hook,
    runs: HashMap<&'static str, Arc<Counting>>,
    audit: Arc<Scripted>,
}

impl Crowd {
    pub(super) async fn new(hook: Hook, breaker: BreakerLimits) -> Self {
        let state: Arc<dyn StateStore> = Arc::new(MemoryState::default());
        // Long enough for a healthy event on a machine that is busy with other tests.
        let deadline = Duration::from_secs(6);
        let limits = SandboxLimits {
            decision_deadline: deadline,
            report_deadline: deadline,
            memory: 4 << 20,
            ..SandboxLimits::default()
        };
        let ample = SandboxLimits { decision_deadline: AMPLE, report_deadline: AMPLE, ..SandboxLimits::default() };
        let good = async |name: &str, hook| content(name, hook, &ample, &state).await;
        let mut listeners = vec![good("grants", Hook::Grant).await, good("first", Hook::BeforeCall).await];
        for vice in Vice::ALL {
            listeners.push(vice.listener(hook, &limits, breaker, &state).await);
        }
        listeners.push(good("last", Hook::BeforeCall).await);
        listeners.push(good("after", Hook::AfterCall).await);
        let audit = Arc::new(Scripted::default().on_after_call(|_| Ok(())));
        listeners.push(testing::subscription("audit", audit.clone()));

        let names = Vice::ALL.map(Vice::name).into_iter().chain([WORKS]);
        let (tools, runs) = names.map(|name| (name, numbered(testing::row(name)))).fold(
            (Vec::new(), HashMap::new()),
            |(mut tools, mut runs), (name, (tool, counting))| {
                tools.push(tool);
                runs.insert(name, counting);
                (tools, runs)
            },
        );
        Self { dispatcher: host::dispatcher(tools, Permissions::default(), listeners), hook, runs, audit }
    }

    /// All calls of a wave at once: the healthy ones by four callers, that one among them, the others by it alone.
    pub(super) async fn wave(&self, bad: &str) {
        let callers = ["ada", "bob", "eve", bad].map(|name| caller(name, &[]));
        let healthy = (0..HEALTHY).map(|number| (&callers[number as usize % 4], WORKS));
        let others = Vice::ALL.into_iter().flat_map(|vice| (0..BAD).map(move |_| vice.name()));
        let wanted: Vec<_> = healthy.chain(others.map(|tool| (&callers[3], tool))).collect();
        // The bad ones are spread among the good ones, always in the same way: no prime of that size divides their number.
        let spread = (0..wanted.len()).map(|number| wanted[number * 7_919 % wanted.len()]);
        let calls: Vec<_> =
            spread.map(|(caller, tool)| (tool, self.dispatcher.call(call(caller, tool, "{}", "{}")))).collect();
        for (tool, call) in calls {
            let outcome = call.await;
            match &outcome {
                Outcome::Refused(refusal) if self.refuses(tool) => assert_eq!(refusal.to_string(), INTERNAL),
                Outcome::Executed(_) if !self.refuses(tool) => {}
                other => panic!("{tool}: {other:?}: {:?}", self.failures_of(tool)),
            }
        }
    }

    /// How calls to that tool failed.
    fn failures_of(&self, tool: &str) -> Vec<Ending> {
        let reports = self.audit.reports().into_iter().filter(|report| report.call.identifier == tool);
        reports.map(|report| report.ending).filter(|ending| matches!(ending, Ending::Failed(_))).collect()
    }

    fn refuses(&self, tool: &str) -> bool {
        self.hook == Hook::BeforeCall && tool != WORKS
    }

    /// How often that listener failed, and how often it was not asked.
    pub(super) fn counts(&self, vice: Vice) -> (u64, u64) {
        let rules = self.dispatcher.rules().current();
        let listener = rules.listeners.iter().find(|listener| listener.name() == vice.name()).unwrap();
        (listener.failures(), listener.suspended())
    }

    /// Why a call of that caller is refused.
    pub(super) async fn refused_detail(&self, name: &str, vice: Vice) -> String {
        let refused = self.dispatcher.call(call(&caller(name, &[]), vice.name(), "{}", "{}")).await;
        assert!(matches!(refused, Outcome::Refused(_)), "{refused:?}");
        match self.audit.reports().last().map(|report| report.ending.clone()) {
            Some(Ending::Failed(failed)) if failed.listener.as_deref() == Some(vice.name()) => failed.detail,
            other => panic!("{other:?}"),
        }
    }

    /// What ran, what did not, and what was told about it, over so many calls in all to each tool.
    pub(super) fn check_sums(&self, healthy: u64, bad: u64) {
        assert_eq!(self.runs[WORKS].runs(), healthy);
        for vice in Vice::ALL {
            let runs = if self.refuses(vice.name()) { 0 } else { bad };
            assert_eq!(self.runs[vice.name()].runs(), runs, "{vice:?}");
        }
        let calls = healthy + 4 * bad;
        assert_eq!((self.audit.reports().len() as u64, self.dispatcher.counters().calls), (calls, calls));
        let rules = self.dispatcher.rules().current();
        let good = rules.listeners.iter().filter(|it| Vice::ALL.iter().all(|vice| vice.name() != it.name()));
        assert!(good.map(|it| it.failures() + it.suspended()).eq([0; 5]), "the good ones notice nothing");
    }
}
