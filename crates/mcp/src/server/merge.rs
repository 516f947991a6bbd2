//! Several upstreams as one server: what they offer is put together, and each request finds the one that serves it.

mod offers;

use std::sync::Arc;

use callgate_core::Json;
use futures_util::future::join_all;
use serde_json::json;

use super::from_client::lost_response;
use super::in_flight::Admission;
use super::session::Session;
use crate::convert::own_result;
use crate::edit;
use crate::envelope::{self, Payload, Request, Response, code};
use crate::era::{Era, MODERN_VERSION};
use crate::tasks;
use crate::upstream::{Connection, Lost, OnDrop};

pub(super) use offers::Offers;

/// Answers a request that is neither a listing nor a call, where there are several upstreams.
pub(super) async fn run(session: Arc<Session>, request: Request, admission: Admission) {
    let reply = tokio::select! {
        reply = reply(&session, &request) => reply,
        () = admission.cancelled() => return,
    };
    session.say(reply).await;
}

async fn reply(session: &Session, request: &Request) -> Json {
    let era = Era::of(&request.line);
    match request.method.as_str() {
        "initialize" => initialize(session, request).await,
        "server/discover" => discover(session, request).await,
        "ping" => envelope::result(&request.id, &own_result(Json::empty_object(), era)),
        method => {
            if era == Era::Modern && !session.fleet().offers.are_known() {
                // What each upstream offers is not asked for by the client, so that the gateway does.
                ask_all(session, request, Ask::OffersOnly).await;
            }
            let serving = session.fleet().offers.serving(session.fleet().all(), method);
            let Some((first, others)) = serving.split_first() else {
                return envelope::error(Some(&request.id), code::METHOD_NOT_FOUND, "Method not found");
            };
            let others = others.iter().map(|other| pass(other, request));
            let (reply, _) = futures_util::future::join(pass(first, request), join_all(others)).await;
            reply.map_or_else(|lost| lost_response(&request.id, &lost), |response| response.line)
        }
    }
}

/// Passes the request on as it is. The upstream hears it where the client cancels.
async fn pass(upstream: &Arc<Connection>, request: &Request) -> Result<Response, Lost> {
    upstream.request(&request.id, request.line.clone(), OnDrop::Cancel)?.await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ask {
    ClientsRequest,
    OffersOnly,
}

/// Asks every upstream what it offers, and remembers it. Gives the replies.
async fn ask_all(session: &Session, request: &Request, ask: Ask) -> Vec<Result<Response, Lost>> {
    let fleet = session.fleet();
    let asked = fleet.all().iter().map(|upstream| async move {
        match ask {
            Ask::ClientsRequest => pass(upstream, request).await,
            Ask::OffersOnly => {
                let meta = edit::get(request.line.as_str(), &["params", "_meta"]).unwrap_or("{}");
                let params = edit::remove(&format!(r#"{{"_meta":{meta}}}"#), &["_meta", "progressToken"]);
                upstream.ask("server/discover", Some(&params)).await
            }
        }
    });
    let replies = join_all(asked).await;
    let offers = fleet.all().iter().zip(&replies).map(|(upstream, reply)| match reply {
        Ok(Response { payload: Payload::Result(_), line, .. }) => {
            let line = tasks::taken_out_of_offer(line);
            edit::get(line.as_str(), &["result", "capabilities"]).and_then(|it| Json::parse(it).ok())
        }
        other => {
            tracing::warn!(upstream = upstream.name(), ?other, "an upstream does not say what it offers");
            None
        }
    });
    fleet.offers.remember(offers.collect());
    replies
}

fn results(replies: &[Result<Response, Lost>]) -> Vec<&Json> {
    let result = |reply| match reply {
        &Ok(Response { payload: Payload::Result(ref result), .. }) => Some(result),
        _ => None,
    };
    replies.iter().filter_map(result).collect()
}

fn text(result: &Json, key: &str) -> Option<String> {
    serde_json::from_str(edit::get(result.as_str(), &[key])?).ok()
}

/// The handshake: the lowest revision that an upstream agreed to, and all that they offer.
async fn initialize(session: &Session, request: &Request) -> Json {
    let replies = ask_all(session, request, Ask::ClientsRequest).await;
    let results = results(&replies);
    let Some(version) = results.iter().filter_map(|result| text(result, "protocolVersion")).min() else {
        return none_agreed(request, &replies);
    };
    let fleet = session.fleet();
    let mut result = json!({ "protocolVersion": version });
    let server_info = json!({ "name": fleet.name, "version": fleet.version });
    set(&mut result, "serverInfo", server_info);
    put_together(session, request, result, &results)
}

/// The probe of the modern era. One upstream that does not speak it keeps all in the handshake era.
async fn discover(session: &Session, request: &Request) -> Json {
    let replies = ask_all(session, request, Ask::ClientsRequest).await;
    let results = results(&replies);
    if results.len() < replies.len() {
        let unsupported = replies.iter().flatten().find(|response| {
            edit::get(response.line.as_str(), &["error", "code"]) == Some(&code::UNSUPPORTED_VERSION.to_string())
        });
        return match unsupported {
            Some(response) => response.line.clone(),
            None => envelope::error(Some(&request.id), code::METHOD_NOT_FOUND, "Method not found"),
        };
    }
    let ttl = |result: &&Json| edit::get(result.as_str(), &["ttlMs"]).and_then(|ttl| ttl.parse::<u64>().ok());
    let public = results.iter().all(|result| text(result, "cacheScope").as_deref() == Some("public"));
    let fleet = session.fleet();
    let result = json!({
        "resultType": "complete",
        "supportedVersions": [MODERN_VERSION],
        "ttlMs": results.iter().map(|result| ttl(result).unwrap_or(0)).min().unwrap_or(0),
        "cacheScope": if public { "public" } else { "private" },
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": fleet.name, "version": fleet.version } },
    });
    put_together(session, request, result, &results)
}

fn put_together(session: &Session, request: &Request, mut result: serde_json::Value, results: &[&Json]) -> Json {
    let instructions: Vec<_> = results.iter().filter_map(|result| text(result, "instructions")).collect();
    if !instructions.is_empty() {
        set(&mut result, "instructions", instructions.join("\n\n").into());
    }
    let capabilities = session.fleet().offers.merged(session.fleet().all());
    let result = edit::set(&result.to_string(), &["capabilities"], &capabilities);
    envelope::result(&request.id, &Json::parse(&result).unwrap_or_else(|_| Json::empty_object()))
}

fn set(result: &mut serde_json::Value, key: &str, value: serde_json::Value) {
    if let Some(members) = result.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}

/// No upstream agreed: the client gets the first one's own words, if there are any.
fn none_agreed(request: &Request, replies: &[Result<Response, Lost>]) -> Json {
    let error = replies.iter().flatten().find(|response| matches!(response.payload, Payload::Error(_)));
    match (error, replies.first()) {
        (Some(response), _) => response.line.clone(),
        (None, Some(Err(lost))) => lost_response(&request.id, lost),
        _ => envelope::error(Some(&request.id), code::INTERNAL, "No server behind the gateway could be initialized."),
    }
}
