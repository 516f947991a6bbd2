//! What a grant decision on a call costs by the number of rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use callgate_core::dispatcher::Foreseen;
use callgate_core::registry::Tool;
use callgate_core::testing::{caller, dispatcher, request, row, subscription};
use callgate_core::{Caller, Dispatcher, Json};
use callgate_wasm::SandboxLimits;
use serde_json::json;

use crate::guests::{GRANT, Guest, all_ready};
use crate::measure::{Subject, Table};
use crate::native::Idle;

const ROWS: [usize; 3] = [10, 1_000, 10_000];
/// One in so many tools is for readers.
const FOR_READERS: usize = 10;
const TOOL: &str = "read_0";

/// Whether a decision is used again, and who asks for the next one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reuse {
    Never,
    SameCaller,
    OtherCaller,
}

pub(crate) async fn measure(guest: &Guest) -> Table {
    let mut table = Table::of_times("a grant decision on a call, instances ready, first = 10 rows");
    for (look, way) in
        [("patterns", "by pattern"), ("rows-ahead", "every row, when preparing"), ("rows", "every row, when asked")]
    {
        for (reuse, again) in
            [(Reuse::Never, "reuse 0"), (Reuse::SameCaller, "reused"), (Reuse::OtherCaller, "reusable, changed caller")]
        {
            let sizes = ROWS.map(|rows| decision(format!("{way}, {again}: {rows} rows"), guest, look, reuse, rows));
            table.compare(sizes.into()).await;
        }
    }
    table
}

fn decision(what: String, guest: &Guest, look: &str, reuse: Reuse, rows: usize) -> Subject {
    let reusable = if reuse == Reuse::Never { 0 } else { 60_000 };
    let config = [("look", json!(look)), ("reusable-ms", json!(reusable)), ("reader", json!(["read_*"]))];
    let listener = guest.configured(GRANT, &config, SandboxLimits::default().ready);
    let dispatcher = dispatcher(tools(rows), vec![subscription("grant", listener.clone())]);
    let ada = caller("ada", &["reader"]);
    let number = AtomicU64::new(0);
    let asked = move || match reuse {
        Reuse::OtherCaller => caller(&format!("ada {}", number.fetch_add(1, Ordering::Relaxed)), &["reader"]),
        Reuse::Never | Reuse::SameCaller => ada.clone(),
    };
    Subject::new(what, move || decide(dispatcher.clone(), asked())).after(all_ready(&[listener]))
}

/// By the code that decides a live call, short of running the tool; only a grant listener is there to be asked.
async fn decide(dispatcher: Dispatcher, caller: Arc<Caller>) {
    let explanation = dispatcher.explain(request(Some(caller), TOOL, "{}")).await;
    assert_eq!(explanation.foreseen, Foreseen::Runs);
}

fn tools(rows: usize) -> Vec<Tool> {
    let provider = Arc::new(Idle);
    let tool = |number: usize| {
        let readers = number.is_multiple_of(FOR_READERS);
        let (verb, section) = if readers { ("read", "reader") } else { ("write", "writer") };
        let mut row = row(&format!("{verb}_{number}"));
        row.section = Some(section.to_owned());
        Tool::new(row, Json::parse("{}").expect("it is JSON"), provider.clone())
    };
    (0..rows).map(tool).collect()
}
