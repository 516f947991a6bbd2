//! One request and its answer, over a connection of its own.

use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select};
use http_body_util::BodyExt;
use hyper::client::conn::http1;
use hyper::http::uri::PathAndQuery;
use hyper::http::{HeaderMap, HeaderValue, Method, Request, Response, Uri, header};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::rustls::pki_types::ServerName;
use wasmtime_wasi_http::io::TokioIo;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody};

use crate::text::printable;

use super::address::{Reach, reach};
use super::body::{RequestBody, ResponseBody};
use super::origin::{Host, Origin, Scheme};
use super::{Grants, HttpClient, PrivateNetworks, Rest, Sent};
use crate::capabilities::refusals::Refused;

/// Bytes of an answer's head.
const HEAD: usize = 64 << 10;
/// Fields of an answer's head.
const FIELDS: usize = 100;
/// How many addresses of a host are tried.
const ADDRESSES: usize = 4;
/// The most characters of an origin in the log.
const NAME: usize = 300;

/// Sends a request to an origin of the list, and nowhere else. An answer that points elsewhere is an answer like any other.
pub(super) async fn send(
    client: &HttpClient,
    grants: &Grants,
    request: Request<WasiBody>,
    timeouts: RequestOptions,
    until: Instant,
) -> Sent {
    let origin = allowed(client, grants, request.uri())?;
    if matches!(*request.method(), Method::CONNECT | Method::TRACE) {
        return Err(Error::HttpRequestMethodInvalid);
    }
    check_size(request.headers(), client.grant.request).map_err(|size| Error::HttpRequestBodySize(Some(size)))?;

    let connected = timeout_at(earlier(until, timeouts.connect_timeout), connect(client, grants, &origin, until));
    let stream = connected.await.map_err(|_| Error::ConnectionTimeout)??;
    let over = Arc::new(AtomicBool::new(false));
    let request = addressed(request, &origin, client.grant.request as u64, over.clone())?;
    let answered = timeout_at(earlier(until, timeouts.first_byte_timeout), ask(stream, request));
    let (response, rest) = match answered.await {
        Err(_) => return Err(Error::HttpResponseTimeout),
        Ok(Err(_)) if over.load(Ordering::Relaxed) => {
            return Err(Error::HttpRequestBodySize(Some(client.grant.request as u64)));
        }
        Ok(answer) => answer?,
    };
    check_size(response.headers(), client.grant.response).map_err(|size| Error::HttpResponseBodySize(Some(size)))?;
    let (most, pause) = (client.grant.response as u64, timeouts.between_bytes_timeout);
    let response = response.map(|body| ResponseBody::new(body, most, until, pause).boxed_unsync());
    // Whether the connection ended well is seen where the body is read.
    let rest: Rest = Box::new(async move {
        let _ = timeout_at(until, Box::into_pin(rest)).await;
        Ok(())
    });
    Ok((response, rest))
}

/// The origin that a request is for, if it is in the list.
fn allowed(client: &HttpClient, grants: &Grants, uri: &Uri) -> Result<Origin, Error> {
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let text = format!("{}://{authority}", uri.scheme_str().unwrap_or_default());
    let origin = text.parse::<Origin>().ok().filter(|origin| client.grant.origins.contains(origin));
    origin.ok_or_else(|| {
        // What stands before the host may be a password.
        let host = authority.rsplit('@').next().unwrap_or_default();
        let named = format!("{}://{host}", uri.scheme_str().unwrap_or_default());
        grants.refused(Refused::Origin(&printable(&named, NAME)));
        Error::HttpRequestDenied
    })
}

/// The declared size of a body, if it is more than that.
fn check_size(headers: &HeaderMap, most: usize) -> Result<(), u64> {
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    declared.filter(|length| *length > most as u64).map_or(Ok(()), Err)
}

fn earlier(until: Instant, timeout: Option<Duration>) -> Instant {
    let own = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    own.map_or(until, |own| own.min(until))
}

/// The request as it is sent: to a path of the origin, whose name the host spells.
fn addressed(
    request: Request<WasiBody>,
    origin: &Origin,
    most: u64,
    over: Arc<AtomicBool>,
) -> Result<Request<RequestBody>, Error> {
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
    parts.uri = Uri::from(path);
    let host = HeaderValue::from_str(&origin.authority()).map_err(|_| Error::HttpRequestUriInvalid)?;
    parts.headers.insert(header::HOST, host);
    parts.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    Ok(Request::from_parts(parts, RequestBody::new(body, most, over)))
}

/// A connection to the origin.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

async fn connect(
    client: &HttpClient,
    grants: &Grants,
    origin: &Origin,
    until: Instant,
) -> Result<Box<dyn Stream>, Error> {
    let addresses = addresses(client, grants, origin).await?;
    let stream = first_that_answers(&addresses, until).await?;
    let name = match (origin.scheme, &origin.host) {
        (Scheme::Http, _) => return Ok(Box::new(stream)),
        (Scheme::Https, Host::Name(name)) => {
            ServerName::try_from(name.clone()).map_err(|_| Error::HttpRequestUriInvalid)?
        }
        (Scheme::Https, Host::Address(address)) => ServerName::from(*address),
    };
    let secured = client.tls.connect(name, stream).await;
    Ok(Box::new(secured.map_err(|_| Error::TlsProtocolError)?))
}

// INVARIANT: these are the addresses that are connected to. A name is resolved once for each request, so that what was
// checked is what is reached.
async fn addresses(client: &HttpClient, grants: &Grants, origin: &Origin) -> Result<Vec<SocketAddr>, Error> {
    let resolved: Vec<_> = match &origin.host {
        Host::Address(address) => vec![SocketAddr::new(*address, origin.port)],
        Host::Name(name) => {
            resolve(client, name, origin.port).await.ok_or(Error::DnsError { rcode: None, info_code: None })?
        }
    };
    if resolved.is_empty() {
        return Err(Error::DestinationNotFound);
    }
    // One address that is not everybody's is enough: who chooses among them is not the host.
    for address in &resolved {
        match reach(address.ip()) {
            Reach::Public => {}
            Reach::Private if client.grant.private_networks == PrivateNetworks::Allowed => {}
            Reach::Private => {
                grants.refused(Refused::PrivateNetwork(&origin.to_string()));
                return Err(Error::DestinationIpProhibited);
            }
            Reach::Nowhere => {
                grants.refused(Refused::Nowhere(&origin.to_string()));
                return Err(Error::DestinationIpProhibited);
            }
        }
    }
    Ok(resolved)
}

/// The system's resolver can not be interrupted, so what it looks up holds a thread for as long as that takes, whoever waits
/// for it. A listener has few of them at once: the threads are there for everybody's state as well.
async fn resolve(client: &HttpClient, name: &str, port: u16) -> Option<Vec<SocketAddr>> {
    let turn = client.lookups.clone().acquire_owned().await.ok()?;
    let name = name.to_owned();
    let looking = tokio::task::spawn_blocking(move || {
        let resolved = (name.as_str(), port).to_socket_addrs().map(Iterator::collect);
        drop(turn);
        resolved
    });
    looking.await.ok()?.ok()
}

/// Each address has its share of the time, so that one that is silent does not take that of the others.
async fn first_that_answers(addresses: &[SocketAddr], until: Instant) -> Result<TcpStream, Error> {
    let tried = addresses.iter().take(ADDRESSES);
    let mut left = u32::try_from(tried.len()).unwrap_or(1);
    for address in tried {
        let now = Instant::now();
        let share = now + until.saturating_duration_since(now) / left;
        if let Ok(Ok(stream)) = timeout_at(share, TcpStream::connect(address)).await {
            // Requests are written in one go; waiting for more to send would only cost time.
            let _ = stream.set_nodelay(true);
            return Ok(stream);
        }
        left = left.saturating_sub(1).max(1);
    }
    Err(Error::ConnectionRefused)
}

/// Puts the request on the connection. The rest is what is left to do for the body of the answer.
async fn ask(
    stream: Box<dyn Stream>,
    request: Request<RequestBody>,
) -> Result<(Response<hyper::body::Incoming>, Rest), Error> {
    let (mut sender, connection) = http1::Builder::new()
        .max_buf_size(HEAD)
        .max_headers(FIELDS)
        .handshake::<_, RequestBody>(TokioIo::new(stream))
        .await
        .map_err(|_| Error::HttpProtocolError)?;
    let connection = Box::pin(connection);
    match select(pin!(sender.send_request(request)), connection).await {
        Either::Left((response, connection)) => {
            let rest: Rest = Box::new(async move { connection.await.map_err(|_| Error::HttpResponseIncomplete) });
            Ok((response.map_err(|error| code(&error))?, rest))
        }
        Either::Right((ended, response)) => {
            ended.map_err(|error| code(&error))?;
            let rest: Rest = Box::new(std::future::ready(Ok(())));
            Ok((response.await.map_err(|error| code(&error))?, rest))
        }
    }
}

fn code(error: &hyper::Error) -> Error {
    match () {
        () if error.is_incomplete_message() || error.is_closed() || error.is_canceled() => Error::ConnectionTerminated,
        () if error.is_parse_too_large() => Error::HttpResponseHeaderSectionSize(None),
        () => Error::HttpProtocolError,
    }
}
