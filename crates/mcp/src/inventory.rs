//! The tools that upstreams offer, listed by the gateway itself and made into the registry that decisions are taken over.

mod assemble;
mod pages;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use callgate_core::registry::Tool;
use callgate_core::{Json, Rules, ToolRegistry};
use tokio::sync::Mutex;

use crate::upstream::{Behind, Lost};

pub use assemble::Collision;
pub(crate) use assemble::{Offer, assemble};
pub use pages::ListingFailure;
pub(crate) use pages::list;

/// How long an upstream may take over its whole listing.
const DEADLINE: Duration = Duration::from_secs(30);

/// What is known of all tools.
#[derive(Debug)]
pub(crate) struct Inventory {
    upstreams: Vec<Behind>,
    native: Vec<Tool>,
    rules: Arc<Rules>,
    /// How many refreshes have begun.
    begun: AtomicU64,
    /// How many refreshes have come to their end.
    ended: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The number of the refresh that came to `last`, and what it asked with.
    refresh: u64,
    base: Option<Json>,
    last: Option<Result<Arc<Snapshot>, InventoryFailure>>,
    in_force: Option<InForce>,
}

/// What the registry in force was made from.
#[derive(Debug)]
struct InForce {
    listed: Vec<Option<Vec<Json>>>,
    registry: Arc<ToolRegistry>,
    order: Arc<HashMap<String, usize>>,
}

/// One look at all upstreams.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// Where each tool stands among those of its upstream, upstreams in configured order.
    pub(crate) order: Arc<HashMap<String, usize>>,
    /// The first page of each upstream that listed, as it came.
    pub(crate) first_pages: Vec<Json>,
}

/// Why there is no new look at the tools.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum InventoryFailure {
    #[error(transparent)]
    Listing(#[from] ListingFailure),
    #[error(transparent)]
    Collision(#[from] Collision),
}

impl Inventory {
    pub(crate) fn new(upstreams: Vec<Behind>, native: Vec<Tool>, rules: Arc<Rules>) -> Self {
        Self { upstreams, native, rules, begun: AtomicU64::new(0), ended: AtomicU64::new(0), state: Mutex::default() }
    }

    /// Whether one upstream alone makes up all there is, so that its own listing is the listing.
    pub(crate) fn is_single(&self) -> bool {
        self.upstreams.len() == 1 && self.native.is_empty()
    }

    /// Lists all upstreams anew, with `base` as the parameters of the request.
    pub(crate) async fn refresh(&self, base: Option<Json>) -> Result<Arc<Snapshot>, InventoryFailure> {
        let asked = self.begun.load(Ordering::SeqCst);
        let mut state = self.state.lock().await;
        // What began after it was asked for is fresh enough, whoever it was for.
        match &state.last {
            Some(last) if state.refresh > asked && state.base == base => last.clone(),
            _ => self.run(&mut state, base).await,
        }
    }

    /// How many looks at the tools have begun.
    pub(crate) fn looks(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    /// Lists all upstreams anew in the way of the last time, if there was one and none has begun since there were that
    /// many. What is known stays known if that fails.
    pub(crate) async fn refresh_after(&self, asked: u64) {
        let mut state = self.state.lock().await;
        if state.last.is_some() && state.refresh <= asked {
            let base = state.base.clone();
            // A failure is logged where it happens, and the next listing tries again.
            let _ = self.run(&mut state, base).await;
        }
    }

    /// Waits until a registry is in force that came from a listing, and for a refresh under way. All that waited for one
    /// that failed share its failure: an upstream that hangs would hold up each of them for as long as the first.
    pub(crate) async fn ready(&self, base: Option<Json>) -> Result<(), InventoryFailure> {
        let ended = self.ended.load(Ordering::SeqCst);
        let mut state = self.state.lock().await;
        if state.in_force.is_some() {
            return Ok(());
        }
        match &state.last {
            Some(Err(failure)) if self.ended.load(Ordering::SeqCst) != ended => Err(failure.clone()),
            _ => self.run(&mut state, base).await.map(drop),
        }
    }

    async fn run(&self, state: &mut State, base: Option<Json>) -> Result<Arc<Snapshot>, InventoryFailure> {
        let refresh = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let last = self.look(state, base.as_ref()).await;
        if let Err(failure) = &last {
            tracing::warn!(%failure, "the tools could not be listed");
        }
        state.refresh = refresh;
        state.base = base;
        state.last = Some(last.clone());
        self.ended.fetch_add(1, Ordering::SeqCst);
        last
    }

    async fn look(&self, state: &mut State, base: Option<&Json>) -> Result<Arc<Snapshot>, InventoryFailure> {
        let looks = self.upstreams.iter().map(|upstream| async move {
            let listing = list(&upstream.connection, base);
            tokio::time::timeout(DEADLINE, listing).await.unwrap_or_else(|_| {
                Err(ListingFailure::Lost(Lost::AfterSending(upstream.connection.name().to_owned())))
            })
        });
        let looks = futures_util::future::join_all(looks).await;

        let mut listed = Vec::new();
        let mut first_pages = Vec::new();
        let mut failure = None;
        for (index, look) in looks.into_iter().enumerate() {
            match look {
                Ok(pages) => {
                    first_pages.extend(pages.first);
                    listed.push(Some(pages.tools));
                }
                Err(reason) => {
                    tracing::warn!(%reason, "an upstream could not be listed; what it listed before still counts");
                    let before = state.in_force.as_ref().and_then(|it| it.listed.get(index)).cloned().flatten();
                    listed.push(before);
                    failure.get_or_insert(reason);
                }
            }
        }
        // One upstream of several that is lost takes only its own tools along.
        if let Some(failure) = failure
            && (self.is_single() || (first_pages.is_empty() && self.native.is_empty()))
        {
            let absent = matches!(&failure, ListingFailure::Refused(refused) if refused.no_such_method());
            if absent && self.is_single() {
                self.put_in_force(state, vec![Some(Vec::new())])?;
            }
            return Err(failure.into());
        }
        let order = self.put_in_force(state, listed)?;
        Ok(Arc::new(Snapshot { order, first_pages }))
    }

    /// Makes a registry of what was listed. Where nothing changed the one in force stays, and with it every decision that
    /// may be reused under it.
    fn put_in_force(
        &self,
        state: &mut State,
        listed: Vec<Option<Vec<Json>>>,
    ) -> Result<Arc<HashMap<String, usize>>, Collision> {
        if let Some(in_force) = &state.in_force
            && in_force.listed == listed
            && Arc::ptr_eq(&in_force.registry, &self.rules.current().registry)
        {
            return Ok(in_force.order.clone());
        }
        let offers = self
            .upstreams
            .iter()
            .zip(&listed)
            .map(|(upstream, tools)| Offer { upstream, tools: tools.as_deref().unwrap_or_default() });
        let (registry, order) = assemble(offers, &self.native)?;
        let order = Arc::new(order);
        self.rules.replace_registry(registry);
        let registry = self.rules.current().registry.clone();
        state.in_force = Some(InForce { listed, registry, order: order.clone() });
        Ok(order)
    }
}
