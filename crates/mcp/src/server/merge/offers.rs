//! What each upstream offers, and who serves what.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use callgate_core::Json;
use callgate_core::json::members;

use crate::edit;
use crate::upstream::Connection;

/// The capabilities of each upstream, once they are known.
#[derive(Debug, Default)]
pub(in crate::server) struct Offers(Mutex<Option<Vec<Option<Json>>>>);

impl Offers {
    pub(super) fn remember(&self, offers: Vec<Option<Json>>) {
        *self.offers() = Some(offers);
    }

    pub(super) fn are_known(&self) -> bool {
        self.offers().is_some()
    }

    /// Who serves a method: the first upstream that offers what it is about. A log level concerns all that log. What is
    /// about nothing known goes to the first upstream.
    pub(super) fn serving<'a>(&self, upstreams: &'a [Arc<Connection>], method: &str) -> Vec<&'a Arc<Connection>> {
        let capability = match method.split_once('/') {
            Some(("resources", _)) => "resources",
            Some(("prompts", _)) => "prompts",
            Some(("completion", _)) => "completions",
            Some(("logging", _)) => "logging",
            _ => return upstreams.iter().take(1).collect(),
        };
        let offers = self.offers();
        let Some(offers) = offers.as_ref() else { return upstreams.iter().take(1).collect() };
        let offered = |offer: &Option<Json>| {
            offer.as_ref().is_some_and(|offer| edit::find(offer.as_str(), &[capability]).is_some())
        };
        let serving = upstreams.iter().zip(offers).filter(|(_, offer)| offered(offer)).map(|(upstream, _)| upstream);
        serving.take(if capability == "logging" { usize::MAX } else { 1 }).collect()
    }

    /// All capabilities together, as the text of an object: tools of all, everything else as its first upstream has it.
    pub(super) fn merged(&self, upstreams: &[Arc<Connection>]) -> String {
        let offers = self.offers();
        let mut owners: HashMap<String, &str> = HashMap::new();
        let mut text = "{}".to_owned();
        for (upstream, offer) in upstreams.iter().zip(offers.iter().flatten()) {
            let Some(capabilities) = offer.as_ref().and_then(|offer| members(offer.as_str())) else { continue };
            for (capability, value) in capabilities.iter() {
                match owners.get(capability) {
                    None => {
                        owners.insert(capability.to_owned(), upstream.name());
                        text = edit::set(&text, &[capability], value.get());
                    }
                    Some(_) if capability == "tools" => {
                        if edit::get(value.get(), &["listChanged"]) == Some("true") {
                            text = edit::set(&text, &["tools", "listChanged"], "true");
                        }
                    }
                    Some(owner) => tracing::info!(
                        capability,
                        owner,
                        upstream = upstream.name(),
                        "two upstreams offer a capability; the first one serves it"
                    ),
                }
            }
        }
        text
    }

    fn offers(&self) -> MutexGuard<'_, Option<Vec<Option<Json>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
