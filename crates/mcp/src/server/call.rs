//! A call, from the client's message to the answer.

use std::sync::Arc;

use callgate_core::request::{CallRequest, Round};
use callgate_core::{Json, Outcome, Refusal};

use super::in_flight::Admission;
use super::session::Session;
use crate::convert;
use crate::edit;
use crate::envelope::{self, Request};
use crate::era::Era;

/// Takes a call through governance and answers it. Nothing is answered where the client cancels the call.
pub(super) async fn run(session: Arc<Session>, request: Request, admission: Admission) {
    let era = Era::of(&request.line);
    // Nobody's call is refused whatever the tools are.
    if session.caller().is_some() {
        let ready = tokio::select! {
            ready = session.inventory().ready(listing_base(&request.line)) => ready,
            // Nothing has been asked and nothing has run, so there is nothing to record either.
            () = admission.cancelled() => return,
        };
        if ready.is_err() {
            return session.say(undecided(&session, request).await).await;
        }
    }
    let params = envelope::params(&request.line).and_then(|params| Json::parse(params).ok());
    let call = session.dispatcher().call(CallRequest {
        caller: session.caller().cloned(),
        round: round(&request.line),
        params: params.unwrap_or_else(Json::empty_object),
        wire: Some(request.line),
    });
    let canceller = call.canceller();
    let mut call = std::pin::pin!(call);
    let outcome = tokio::select! {
        outcome = &mut call => outcome,
        () = admission.cancelled() => {
            canceller.cancel();
            call.await;
            return;
        }
    };
    if let Some(response) = convert::response(&request.id, era, outcome) {
        session.say(response).await;
    }
}

/// The answer to a call that can't be decided, as there is no registry to decide over. One that names no tool needs no
/// decision: the dispatcher says so before it looks at anything, also to nobody (N1).
async fn undecided(session: &Session, request: Request) -> Json {
    let era = Era::of(&request.line);
    let params = envelope::params(&request.line).and_then(|params| Json::parse(params).ok());
    let nobodys = session.dispatcher().call(CallRequest {
        caller: None,
        round: Round::First,
        params: params.unwrap_or_else(Json::empty_object),
        wire: None,
    });
    let refusal = match nobodys.await {
        Outcome::Refused(refusal @ Refusal::ToolNameRequired) => refusal,
        _ => Refusal::AccessNotVerified,
    };
    convert::refused(&request.id, era, &refusal)
}

/// Whether a call carries what an earlier round asked for (W4).
fn round(line: &Json) -> Round {
    let carries = |key| edit::find(line.as_str(), &["params", key]).is_some();
    if carries("inputResponses") || carries("requestState") { Round::Continuation } else { Round::First }
}

/// What the gateway's own listing has for parameters when another request is the occasion for it: in the modern era what
/// that request says of its client, as every request has to.
fn listing_base(line: &Json) -> Option<Json> {
    let meta = match Era::of(line) {
        Era::Modern => edit::get(line.as_str(), &["params", "_meta"])?,
        Era::Legacy => return None,
    };
    Json::parse(&edit::remove(&format!(r#"{{"_meta":{meta}}}"#), &["_meta", "progressToken"])).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w4_a_call_that_carries_input_is_a_continuation() {
        for (params, expected) in [
            (r#"{"name":"a"}"#, Round::First),
            (r#"{"name":"a","arguments":{"requestState":1}}"#, Round::First),
            (r#"{"name":"a","requestState":"s"}"#, Round::Continuation),
            (r#"{"name":"a","inputResponses":{}}"#, Round::Continuation),
        ] {
            let line = Json::parse(&format!(r#"{{"id":1,"params":{params}}}"#)).unwrap();
            assert_eq!(round(&line), expected, "{params}");
        }
    }
}
