//! The example listeners as components in the real sandbox, over the real dispatcher.

mod agent_mode;
mod approval_gate;
mod audit_trail;
mod ledger_repeats;
mod ledger_refusals;

use std::sync::Arc;

use callgate::sqlite_state::SqliteState;
use callgate_core::state::MemoryState;
use callgate_core::tool::ReplyBody;
use callgate_core::{Json, Outcome, StateStore};

fn memory() -> Arc<dyn StateStore> {
    Arc::new(MemoryState::default())
}

/// A store in a file, and the folder that it is in.
fn sqlite() -> (Arc<dyn StateStore>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteState::open(&folder.path().join("state.sqlite")).unwrap();
    (Arc::new(store), folder)
}

/// What a tool that ran replied.
#[track_caller]
fn executed(outcome: &Outcome) -> &Json {
    match outcome {
        Outcome::Executed(reply) => match &reply.body {
            ReplyBody::Result(result) => result,
            ReplyBody::Error(error) => panic!("{error}"),
        },
        other => panic!("{other:?}"),
    }
}

/// What a listener gave in place of a run.
#[track_caller]
fn answered(outcome: &Outcome) -> &Json {
    match outcome {
        Outcome::Answered(result) => result,
        other => panic!("{other:?}"),
    }
}

/// The reason of a denial.
#[track_caller]
fn denied(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Denied(result) => {
            let result: serde_json::Value = serde_json::from_str(result.as_str()).unwrap();
            assert_eq!(result["isError"], true);
            result["content"][0]["text"].as_str().unwrap().to_owned()
        }
        other => panic!("{other:?}"),
    }
}
