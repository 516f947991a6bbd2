//! `wasi:http`: requests to the origins that a listener was granted. Its types work for everybody.

mod exchange;
mod origin;
mod address;
mod body;
mod tls;

use std::collections::BTreeSet;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::http::{HeaderName, Request, Response, header};
use tokio::sync::Semaphore;
use tokio_rustls::TlsConnector;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi_http::p2::HttpResult;
use wasmtime_wasi_http::p2::bindings::LinkOptions;
use wasmtime_wasi_http::p2::bindings::http::outgoing_handler;
use wasmtime_wasi_http::p2::bindings::http::types::{self, ErrorCode};
use wasmtime_wasi_http::p2::types::{HostFutureIncomingResponse, HostOutgoingRequest};
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, Error, ForbiddenHeaderFilter, RequestOptions as Timeouts, WasiBody, WasiHttp,
    WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks, WasiHttpView,
};

use crate::event::EventState;

pub use origin::{Origin, OriginError};
pub use tls::RootProblem;

use super::patience::Patience;
use super::{Capability, Grants};

/// The interfaces that are linked, of any patch version of 0.2.
pub(crate) const HTTP_INTERFACES: [&str; 2] = ["wasi:http/outgoing-handler", "wasi:http/types"];

/// Bytes of one set of header fields that a guest makes, with what it takes to keep them.
const FIELDS: usize = 32 << 10;
/// The most bytes of a body that a guest can write at once. Two such pieces are kept for each request.
const PIECE: usize = 16 << 10;

/// What a listener may reach, and with how much.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpGrant {
    /// Where requests may go.
    pub origins: BTreeSet<Origin>,
    /// Whether an origin may be in a private network.
    pub private_networks: PrivateNetworks,
    /// The time for a request and its whole answer. None for half of the event's deadline. Whatever it is, the last
    /// quarter of what is left of the event is the guest's.
    pub timeout: Option<Duration>,
    /// Bytes of the body of one request.
    pub request: usize,
    /// Bytes of the body of one answer.
    pub response: usize,
    /// Requests of one event.
    pub requests: u32,
    /// A file of certificates (PEM) that servers may be certified with besides those that browsers know.
    pub roots: Option<PathBuf>,
}

impl HttpGrant {
    /// Requests to these origins, within the defaults: not in private networks, 256 KiB out, 1 MiB in, 8 requests.
    pub fn to(origins: impl IntoIterator<Item = Origin>) -> Self {
        Self {
            origins: origins.into_iter().collect(),
            private_networks: PrivateNetworks::Refused,
            timeout: None,
            request: 256 << 10,
            response: 1 << 20,
            requests: 8,
            roots: None,
        }
    }
}

/// Whether an origin may have addresses that only some can reach: of this machine, of its network, of a cloud's own services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrivateNetworks {
    /// It may not, whatever its name resolves to.
    #[default]
    Refused,
    /// It may.
    Allowed,
}

/// Why requests can not be granted like that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpProblem {
    /// Requests may go nowhere.
    #[error("without an origin no request could be made; name one or leave the table out")]
    NoOrigin,
    /// A bound under which no request could be made.
    #[error("with a bound of 0 for {0} no request could be made; give it at least 1")]
    Nothing(&'static str),
    /// The event is over before the request is.
    #[error("a timeout of {timeout:?} is not below the deadline of {deadline:?}, so it would never be met; lower it")]
    BeyondDeadline {
        /// The time for a request.
        timeout: Duration,
        /// The time for an event.
        deadline: Duration,
    },
    /// The file of certificates.
    #[error(transparent)]
    Roots(#[from] RootProblem),
}

/// A grant, ready for use.
pub(crate) struct HttpClient {
    grant: HttpGrant,
    tls: TlsConnector,
    lookups: Arc<Semaphore>,
}

/// How many names are looked up for a listener at the same time.
const LOOKUPS: usize = 8;

impl HttpClient {
    /// `deadline` is that of the listener's longest event.
    pub(crate) fn new(grant: HttpGrant, deadline: Duration) -> Result<Self, HttpProblem> {
        if grant.origins.is_empty() {
            return Err(HttpProblem::NoOrigin);
        }
        let nothing = [("requests", grant.requests == 0), ("the timeout", grant.timeout == Some(Duration::ZERO))];
        if let Some((bound, _)) = nothing.into_iter().find(|(_, nothing)| *nothing) {
            return Err(HttpProblem::Nothing(bound));
        }
        if let Some(timeout) = grant.timeout.filter(|timeout| *timeout >= deadline) {
            return Err(HttpProblem::BeyondDeadline { timeout, deadline });
        }
        let lookups = Arc::new(Semaphore::new(LOOKUPS));
        Ok(Self { tls: tls::connector(grant.roots.as_deref())?, grant, lookups })
    }
}

impl std::fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpClient").field("grant", &self.grant).finish_non_exhaustive()
    }
}

/// The part of `wasi:http` that belongs to one event.
pub(super) struct HttpUse {
    context: WasiHttpCtx,
    hooks: Hooks,
}

impl HttpUse {
    pub(super) fn new(grants: &Grants) -> Self {
        let mut context = WasiHttpCtx::new();
        context.set_field_size_limit(FIELDS);
        let left = grants.http.as_ref().map_or(0, |client| client.grant.requests);
        Self { context, hooks: Hooks { grants: grants.clone(), left, patience: None } }
    }
}

pub(super) fn link(linker: &mut Linker<EventState>) -> wasmtime::Result<()> {
    types::add_to_linker::<_, WasiHttp>(linker, &LinkOptions::default().into(), EventState::http)?;
    // The library's own would send what it may not, only to fail later.
    linker.instance("wasi:http/outgoing-handler@0.2.0")?.func_wrap(
        "handle",
        |mut store, (request, options): (Resource<HostOutgoingRequest>, Option<Resource<Timeouts>>)| {
            let handled = store.data_mut().handle(request, options);
            Ok((handled.map_or_else(|error| error.downcast().map(Err), |response| Ok(Ok(response)))?,))
        },
    )
}

impl WasiHttpView for EventState {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.meter.count_host_call();
        let HttpUse { context, hooks } = &mut self.uses.http;
        WasiHttpCtxView { hooks, table: &mut self.table, ctx: context }
    }
}

impl EventState {
    fn handle(
        &mut self,
        request: Resource<HostOutgoingRequest>,
        options: Option<Resource<Timeouts>>,
    ) -> HttpResult<Resource<HostFutureIncomingResponse>> {
        if self.is_rehearsal() || !self.grants.may(Capability::Http) {
            self.table.delete(request)?;
            return Err(ErrorCode::HttpRequestDenied.into());
        }
        self.uses.http.hooks.patience = Some(self.uses.patience);
        outgoing_handler::Host::handle(&mut self.http(), request, options)
    }
}

/// Sends what may be sent.
struct Hooks {
    grants: Grants,
    /// How many requests the event may still make.
    left: u32,
    patience: Option<Patience>,
}

type Rest = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Sent = Result<(Response<WasiBody>, Rest), Error>;

impl WasiHttpHooks for Hooks {
    fn is_forbidden_header(&mut self, name: &HeaderName) -> bool {
        is_forbidden(name)
    }

    fn forbidden_header_filter(&mut self) -> ForbiddenHeaderFilter {
        Arc::new(is_forbidden)
    }

    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        timeouts: Option<Timeouts>,
        _: Box<dyn Future<Output = Result<(), Error>> + Send>,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        let (Some(patience), Some(left)) = (self.patience, self.left.checked_sub(1)) else {
            return Box::new(std::future::ready::<Sent>(Err(Error::ConnectionLimitReached)));
        };
        self.left = left;
        let grants = self.grants.clone();
        Box::new(async move {
            let Some(client) = &grants.http else { return Err(Error::HttpRequestDenied) };
            let until = patience.until(client.grant.timeout);
            exchange::send(client, &grants, request, timeouts.unwrap_or_default(), until).await
        })
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        PIECE
    }

    fn p2_error_from_hyper(&mut self, _: &hyper::Error) -> ErrorCode {
        ErrorCode::HttpProtocolError
    }
}

/// What only the host says about a request: where it goes, how it is framed, and what a proxy would do with it.
fn is_forbidden(name: &HeaderName) -> bool {
    DEFAULT_FORBIDDEN_HEADERS.contains(name)
        || [header::TE, header::TRAILER, header::EXPECT].contains(name)
        || name.as_str().starts_with("proxy-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_where_a_request_goes_is_the_hosts() {
        let name = |name: &str| name.parse::<HeaderName>().unwrap();
        for forbidden in
            ["Host", "Connection", "Transfer-Encoding", "Upgrade", "Proxy-Authorization", "Proxy-Anything", "TE"]
        {
            assert!(is_forbidden(&name(forbidden)), "{forbidden}");
        }
        for allowed in ["Authorization", "Content-Length", "Content-Type", "X-Forwarded-For"] {
            assert!(!is_forbidden(&name(allowed)), "{allowed}");
        }
    }

    #[test]
    fn a_grant_that_grants_nothing_is_refused() {
        let second = Duration::from_secs(1);
        let some = || HttpGrant::to(["https://api.example.com".parse().unwrap()]);
        let problem = |grant| HttpClient::new(grant, second).unwrap_err();
        assert_eq!(problem(HttpGrant::to([])), HttpProblem::NoOrigin);
        assert_eq!(problem(HttpGrant { requests: 0, ..some() }), HttpProblem::Nothing("requests"));
        let late = problem(HttpGrant { timeout: Some(second), ..some() });
        assert_eq!(late, HttpProblem::BeyondDeadline { timeout: second, deadline: second });
        assert!(matches!(problem(HttpGrant { roots: Some("missing.pem".into()), ..some() }), HttpProblem::Roots(_)));
        HttpClient::new(some(), second).unwrap();
    }
}
