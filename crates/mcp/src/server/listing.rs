//! A listing: what the upstreams offer, less what does not exist for the caller.

use std::sync::Arc;

use callgate_core::Json;
use callgate_core::dispatcher::{Listing, Reading};
use callgate_core::json::{elements, members};
use callgate_core::registry::Tool;

use super::announcing;
use super::from_client::lost_response;
use super::in_flight::Admission;
use super::session::Session;
use crate::convert::own_result;
use crate::edit;
use crate::envelope::{self, Request, code, fold};
use crate::era::Era;
use crate::inventory::{InventoryFailure, ListingFailure, Snapshot};

/// For how long a client may keep a listing, in milliseconds: the rules behind it can change at any time.
const MAX_TTL: u64 = 5_000;

/// Lists the tools and answers. Nothing is answered where the client cancels the request.
pub(super) async fn run(session: Arc<Session>, request: Request, admission: Admission) {
    let reply = tokio::select! {
        reply = reply(&session, &request) => reply,
        () = admission.cancelled() => return,
    };
    session.say(reply).await;
}

async fn reply(session: &Session, request: &Request) -> Json {
    let era = Era::of(&request.line);
    // Listings have one page, so that there is no cursor to continue from.
    if edit::get(request.line.as_str(), &["params", "cursor"]).is_some_and(|cursor| cursor != "null") {
        return envelope::error(Some(&request.id), code::INVALID_PARAMS, "Invalid cursor");
    }
    let Some(caller) = session.caller() else {
        return own(request, era, "", Hints { ttl: 0 });
    };
    let snapshot = match session.inventory().refresh(base(&request.line)).await {
        Ok(snapshot) => snapshot,
        Err(failure) => return failed(request, &failure),
    };
    let generation = session.dispatcher().rules().current().generation();
    let Listing { mut tools, reading } = session.dispatcher().list(Some(caller.clone())).await;
    announcing::shown(session, generation, &tools).await;
    tools.sort_by_key(|tool| snapshot.order.get(&tool.row.identifier).copied().unwrap_or(usize::MAX));

    let hints = Hints::of(&snapshot, reading);
    match snapshot.first_pages.first() {
        Some(page) if session.inventory().is_single() && has_one_listing(page) => {
            as_page(request, era, page, &tools, hints)
        }
        _ => own(request, era, &joined(&tools), hints),
    }
}

/// Whether every parser finds the same tools on a page, also one that takes the first of two keys or `Tools` for `tools`.
fn has_one_listing(page: &Json) -> bool {
    let once = |text: &str, name: &str| {
        let keys = members(text);
        let alike = keys.iter().flat_map(|keys| keys.iter()).filter(|(key, _)| fold(key) == name);
        alike.map(|(key, _)| key == name).eq([true])
    };
    once(page.as_str(), "result") && edit::get(page.as_str(), &["result"]).is_some_and(|result| once(result, "tools"))
}

/// The upstream's own first page with other tools on it.
fn as_page(request: &Request, era: Era, page: &Json, tools: &[Arc<Tool>], hints: Hints) -> Json {
    let mut text = edit::set(page.as_str(), &["id"], request.id.raw().as_str());
    let same = edit::get(&text, &["result", "tools"]).and_then(elements).is_some_and(|listed| {
        listed.len() == tools.len() && listed.iter().zip(tools).all(|(a, b)| a.get() == b.definition.as_str())
    });
    if !same {
        text = edit::set(&text, &["result", "tools"], &format!("[{}]", joined(tools)));
    }
    text = edit::remove(&text, &["result", "nextCursor"]);
    if era == Era::Modern {
        text = hints.write(text, &["result"]);
    }
    Json::parse(&text).unwrap_or_else(|_| own(request, era, &joined(tools), hints))
}

/// A listing in words of the gateway's own.
fn own(request: &Request, era: Era, tools: &str, hints: Hints) -> Json {
    let mut text = format!(r#"{{"tools":[{tools}]}}"#);
    if era == Era::Modern {
        text = hints.write(text, &[]);
    }
    let result = Json::parse(&text).unwrap_or_else(|_| Json::empty_object());
    envelope::result(&request.id, &own_result(result, era))
}

fn joined(tools: &[Arc<Tool>]) -> String {
    tools.iter().map(|tool| tool.definition.as_str()).collect::<Vec<_>>().join(",")
}

/// What a listing says about being kept (G11): by its caller alone, and not for long.
#[derive(Clone, Copy)]
struct Hints {
    ttl: u64,
}

impl Hints {
    fn of(snapshot: &Snapshot, reading: Reading) -> Self {
        let ttl = |page: &Json| {
            // A number that is none counts as no time at all.
            edit::get(page.as_str(), &["result", "ttlMs"]).and_then(|ttl| ttl.parse().ok()).unwrap_or(0)
        };
        match reading {
            Reading::Degraded => Self { ttl: 0 },
            Reading::Complete => Self { ttl: snapshot.first_pages.iter().map(ttl).fold(MAX_TTL, u64::min) },
        }
    }

    fn write(self, text: String, result: &[&str]) -> String {
        let text = edit::set(&text, &[result, &["ttlMs"]].concat(), &self.ttl.to_string());
        edit::set(&text, &[result, &["cacheScope"]].concat(), "\"private\"")
    }
}

/// What the gateway's own requests have for parameters: the client's, less what belongs to its own request.
fn base(line: &Json) -> Option<Json> {
    let params = edit::remove(envelope::params(line)?, &["cursor"]);
    Json::parse(&edit::remove(&params, &["_meta", "progressToken"])).ok().filter(Json::is_object)
}

fn failed(request: &Request, failure: &InventoryFailure) -> Json {
    match failure {
        InventoryFailure::Listing(ListingFailure::Refused(refused)) => {
            let line = refused.response.line.as_str();
            Json::parse(&edit::set(line, &["id"], request.id.raw().as_str()))
                .unwrap_or_else(|_| refused.response.line.clone())
        }
        InventoryFailure::Listing(ListingFailure::Lost(lost)) => lost_response(&request.id, lost),
        other => envelope::error(Some(&request.id), code::INTERNAL, &other.to_string()),
    }
}
