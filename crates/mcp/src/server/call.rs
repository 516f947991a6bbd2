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
    let refuse = async |refusal: &Refusal| session.say(convert::refused(&request.id, era, refusal)).await;
    if names_no_tool(&session, &request.line).await {
        return refuse(&Refusal::ToolNameRequired).await;
    }
    // Nobody's call is refused whatever the tools are.
    if session.caller().is_some() {
        let ready = tokio::select! {
            ready = session.inventory().ready(listing_base(&request.line)) => ready,
            // Nothing has been asked and nothing has run, so there is nothing to record either.
            () = admission.cancelled() => return,
        };
        if ready.is_err() {
            return refuse(&Refusal::AccessNotVerified).await;
        }
    }
    let call = session.dispatcher().call(CallRequest {
        caller: session.caller().cloned(),
        round: round(&request.line),
        params: params(&request.line),
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

/// Whether a call names no tool, which is said whatever the tools are (N1). What a name is the dispatcher knows; it says that
/// there is none before it looks at anything else, also to nobody.
async fn names_no_tool(session: &Session, line: &Json) -> bool {
    // A line that came this far can be read in one way, and a string in it is a name unless it is empty.
    if edit::get(line.as_str(), &["params", "name"]).is_some_and(|name| name.starts_with('"') && name != "\"\"") {
        return false;
    }
    let nobodys = CallRequest { caller: None, round: Round::First, params: params(line), wire: None };
    matches!(session.dispatcher().call(nobodys).await, Outcome::Refused(Refusal::ToolNameRequired))
}

fn params(line: &Json) -> Json {
    let params = envelope::params(line).and_then(|params| Json::parse(params).ok());
    params.unwrap_or_else(Json::empty_object)
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
