//! Running the tool, at most once (B7).

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures_util::FutureExt;

use crate::grant::GrantedCall;
use crate::refusal::Refusal;
use crate::report::{CallFailure, Dispatch, Ending, FailureKind};
use crate::tool::{ReplyBody, ToolFailure, ToolReply};

use super::after::Afterwards;
use super::departure::Departure;
use super::{Inner, Outcome, departed};

impl Inner {
    /// Runs the tool until it replies, the deadline passes or the caller leaves.
    pub(super) async fn dispatch(
        &self,
        granted: &GrantedCall,
        departure: &mut Departure,
        afterwards: &mut Afterwards,
    ) -> (Ending, Result<Outcome, Refusal>) {
        let begun = Instant::now();
        // From here on the tool may have been reached, until it is known better.
        afterwards.reached(Dispatch::Unknown);
        let running = AssertUnwindSafe(granted.tool().provider.call(granted)).catch_unwind();
        let ended = tokio::select! {
            biased;
            reply = running => match reply {
                Ok(Ok(reply)) => replied(reply, afterwards),
                Ok(Err(failure)) => failed(failure, afterwards),
                Err(_) => failed(ToolFailure::Raised("it panicked".into()), afterwards),
            },
            kind = departure.left() => departed(kind),
            () = tokio::time::sleep(self.call_deadline) => {
                let detail = format!("no reply within {} ms", self.call_deadline.as_millis());
                without_result(FailureKind::Deadline, detail, Refusal::Internal)
            }
        };
        afterwards.took(begun.elapsed());
        ended
    }
}

fn replied(reply: ToolReply, afterwards: &mut Afterwards) -> (Ending, Result<Outcome, Refusal>) {
    afterwards.reached(Dispatch::Done);
    let ending = match &reply.body {
        ReplyBody::Result(_) => Ending::Executed(reply.completion),
        ReplyBody::Error(error) => {
            let detail = format!("the upstream replied with an error: {error}");
            Ending::Failed(CallFailure { kind: FailureKind::Upstream, listener: None, detail })
        }
    };
    (ending, Ok(Outcome::Executed(reply)))
}

fn failed(failure: ToolFailure, afterwards: &mut Afterwards) -> (Ending, Result<Outcome, Refusal>) {
    let detail = failure.to_string();
    match failure {
        ToolFailure::Binding(error) => {
            afterwards.reached(Dispatch::None);
            without_result(FailureKind::Binding, detail, error.into())
        }
        ToolFailure::Raised(_) => {
            afterwards.reached(Dispatch::Done);
            without_result(FailureKind::Tool, detail, Refusal::Internal)
        }
        ToolFailure::Upstream { dispatch, .. } => {
            afterwards.reached(dispatch);
            without_result(FailureKind::Upstream, detail, Refusal::Internal)
        }
    }
}

fn without_result(kind: FailureKind, detail: String, refusal: Refusal) -> (Ending, Result<Outcome, Refusal>) {
    (Ending::Failed(CallFailure { kind, listener: None, detail }), Err(refusal))
}
