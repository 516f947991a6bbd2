//! A whole governed call in process, to a tool that does nothing, and where its time goes.

use std::sync::Arc;

use callgate_core::listener::{GrantQuery, Listener};
use callgate_core::registry::Tool;
use callgate_core::testing::{Scripted, caller, dispatcher, granted_call, request, row, subscription};
use callgate_core::{CallReport, Dispatcher, Json, Outcome, ToolRegistry};
use callgate_wasm::WasmListener;

use crate::guests::{AFTER_CALL, BEFORE_CALL, GRANT, Guest, all_ready};
use crate::measure::{Subject, Table};
use crate::native::{Idle, Native};
use crate::one_event::{SMALL, fresh, warm};

const TOOL: &str = "read";

pub(crate) async fn measure(guest: &Guest) -> Vec<Table> {
    let hooks = [GRANT, BEFORE_CALL, BEFORE_CALL, AFTER_CALL];
    let natives = over(hooks.map(|hooks| Arc::new(Native(hooks)) as Arc<dyn Listener>));
    let four = hooks.map(|hooks| guest.listener(hooks));
    let governed = over(four.clone().map(|it| it as Arc<dyn Listener>));

    let mut calls = Table::of_times("a whole call in the library: grant, 2 before, 1 after");
    let times = calls.compare(vec![
        calling("no listener", &over([]), &[]),
        calling("four native listeners", &natives, &[]),
        calling("four in Rust", &governed, &four),
    ]);
    let [bare, native, governed] = times.await.try_into().expect("three were measured");

    let [grant, before, _, after] = four;
    let call = Arc::new(granted_call(TOOL, SMALL));
    let mut events = Table::of_times("its events alone, instances ready");
    let times = events.compare(vec![
        warm("before-call: warm", guest, &call).await,
        fresh("before-call: fresh", &before, &call),
        granting(grant),
        reporting(after, report().await),
    ]);
    let [_, before, grant, after] = times.await.try_into().expect("four were measured");

    let mut parts = Table::new("where the time of the governed call goes, by medians", &["µs"]);
    let known = [
        ("the call without listeners", bare.p50),
        ("the dispatcher's part for four listeners", native.p50 - bare.p50),
        ("the grant event", grant.p50),
        ("two before-call events", 2.0 * before.p50),
        ("the after-call event", after.p50),
    ];
    let rest = governed.p50 - known.iter().map(|(_, time)| time).sum::<f64>();
    for (what, time) in known.into_iter().chain([("not in these", rest), ("the governed call", governed.p50)]) {
        parts.add(what, vec![time]);
    }
    vec![calls, events, parts]
}

fn over<const N: usize>(listeners: [Arc<dyn Listener>; N]) -> Dispatcher {
    let definition = Json::parse(r#"{"name":"read"}"#).expect("it is JSON");
    let listeners = listeners.map(|it| subscription("policy", it));
    dispatcher(vec![Tool::new(row(TOOL), definition, Arc::new(Idle))], listeners.into())
}

/// Calls through that dispatcher, each as soon as these listeners are ready for it.
fn calling(what: &str, dispatcher: &Dispatcher, listeners: &[Arc<WasmListener>]) -> Subject {
    let (dispatcher, ada) = (dispatcher.clone(), caller("ada", &["reader"]));
    let calling = Subject::new(what, move || {
        let (dispatcher, request) = (dispatcher.clone(), request(Some(ada.clone()), TOOL, SMALL));
        async move {
            let outcome = dispatcher.call(request).await;
            assert!(matches!(outcome, Outcome::Executed(_)), "{outcome:?}");
        }
    });
    calling.after(all_ready(listeners))
}

fn granting(listener: Arc<WasmListener>) -> Subject {
    let registry = ToolRegistry::new([callgate_core::testing::tool(TOOL)]).expect("one name");
    let query = Arc::new(GrantQuery { caller: caller("ada", &["reader"]), registry: Arc::new(registry) });
    let ready = all_ready(std::slice::from_ref(&listener));
    let granting = Subject::new("grant: fresh", move || {
        let (listener, query) = (listener.clone(), query.clone());
        async move { drop(listener.grant(&query).await.expect("it decides")) }
    });
    granting.after(ready)
}

fn reporting(listener: Arc<WasmListener>, report: CallReport) -> Subject {
    let report = Arc::new(report);
    let ready = all_ready(std::slice::from_ref(&listener));
    let reporting = Subject::new("after-call: fresh", move || {
        let (listener, report) = (listener.clone(), report.clone());
        async move { listener.after_call(&report).await.expect("it takes note") }
    });
    reporting.after(ready)
}

/// What an after-call listener is told of such a call.
async fn report() -> CallReport {
    let listener = Arc::new(Scripted::default().on_after_call(|_| Ok(())));
    let outcome = over([listener.clone()]).call(request(Some(caller("ada", &["reader"])), TOOL, SMALL)).await;
    assert!(matches!(outcome, Outcome::Executed(_)), "{outcome:?}");
    listener.reports().pop().expect("the call was reported")
}
