//! Requests of a guest, to servers on this machine.

use std::time::Duration;

use callgate_core::ListenerFailure;
use callgate_tests::host::Component;
use callgate_wasm::{HttpGrant, PrivateNetworks};
use serde_json::{Value, json};

use super::server::{Server, certificate};
use super::{Log, attempt, outcomes, reach, ready};

/// Requests to these origins, which may be on this machine.
fn granted(origins: &[String]) -> HttpGrant {
    let origins = origins.iter().map(|origin| origin.parse().unwrap());
    HttpGrant { private_networks: PrivateNetworks::Allowed, ..HttpGrant::to(origins) }
}

fn to(server: &Server) -> HttpGrant {
    granted(&[server.at("127.0.0.1")])
}

fn get(url: &str) -> Value {
    json!({ "request": { "url": url } })
}

async fn one(component: Component, act: Value) -> Value {
    outcomes(component, json!([act])).await.remove(0)
}

#[track_caller]
fn assert_error(outcome: &Value, part: &str) {
    let error = outcome["error"].as_str().unwrap_or_else(|| panic!("{outcome}"));
    assert!(error.contains(part), "{error}");
}

#[tokio::test]
async fn a_granted_origin_is_reached_under_the_name_that_the_grant_has() {
    let server = Server::start().await;
    let grant = granted(&[server.at("localhost")]);
    let request = json!({ "url": server.at("LOCALHOST") + "/echo?q", "headers": [["x-own", "1"]] });
    let told = one(reach().requesting(grant), json!({ "request": request })).await;
    assert_eq!((&told["status"], &told["broken"]), (&json!(200), &Value::Null), "{told}");
    let head = told["text"].as_str().unwrap().to_ascii_lowercase();
    assert!(head.starts_with("get /echo?q http/1.1\r\n"), "{head}");
    let host = server.at("localhost").replace("http://", "host: ");
    for line in [&*host, "x-own: 1", "connection: close"] {
        assert_eq!(head.lines().filter(|it| *it == line).count(), 1, "{line} in {head}");
    }
}

#[tokio::test]
async fn a_body_is_sent_and_bounded() {
    let server = Server::start().await;
    let post = |size: usize| json!({ "request": { "url": server.url("/size"), "method": "POST", "body": size } });
    let grant = || HttpGrant { request: 100_000, ..to(&server) };
    let told = one(reach().requesting(grant()), post(100_000)).await;
    assert_eq!(told["text"], "100000", "{told}");
    assert_error(&one(reach().requesting(grant()), post(100_001)).await, "HttpRequestBodySize");
}

#[tokio::test]
async fn nothing_but_the_granted_origin_is_reached() {
    let (log, _guard) = Log::capture();
    let (server, other) = (Server::start().await, Server::start().await);
    let authority = server.at("127.0.0.1").replace("http://", "");
    let elsewhere = [
        other.url("/echo"),
        server.at("localhost") + "/echo",
        server.at("127.0.0.2") + "/echo",
        server.url("/echo").replace("http", "https"),
        "http://127.0.0.1/echo".to_owned(),
        format!("http://{authority}@{}/echo", other.at("127.0.0.1").replace("http://", "")),
        format!("http://user:password@{authority}/echo"),
    ];
    let listener = ready(reach().requesting(HttpGrant { requests: 100, ..to(&server) })).await;
    let told = attempt(&listener, elsewhere.iter().map(|url| get(url)).collect()).await.unwrap();
    for (url, outcome) in elsewhere.iter().zip(&told) {
        assert!(outcome["error"].as_str().unwrap().contains("HttpRequestDenied"), "{url}: {outcome}");
    }
    assert_eq!((server.connections(), other.connections()), (0, 0));
    assert_eq!(log.lines("add it to `origins` under `[listener.reach.http]`"), 1);
}

#[tokio::test]
async fn a_private_network_is_a_grant_of_its_own_whatever_the_name_says() {
    let (log, _guard) = Log::capture();
    let server = Server::start().await;
    let origins = ["localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "[::1]"].map(|host| server.at(host));
    let grant = HttpGrant { private_networks: PrivateNetworks::Refused, ..granted(&origins) };
    let told = outcomes(reach().requesting(grant), origins.iter().map(|origin| get(origin)).collect()).await;
    for outcome in &told {
        assert_error(outcome, "DestinationIpProhibited");
    }
    assert_eq!(server.connections(), 0);
    assert_eq!(log.lines("`private-networks = true` under `[listener.reach.http]`"), 1);
}

#[tokio::test]
async fn an_answer_that_points_elsewhere_leads_nowhere_else() {
    let (server, other) = (Server::start().await, Server::start().await);
    let url = server.url(&format!("/to?{}", other.url("/echo")));
    let told = one(reach().requesting(to(&server)), get(&url)).await;
    assert_eq!((&told["status"], &told["location"]), (&json!(302), &json!(other.url("/echo"))));
    assert_eq!((server.connections(), other.connections()), (1, 0), "the host does not follow");
    let following = json!({ "request": { "url": url, "follow": true } });
    assert_error(&one(reach().requesting(to(&server)), following).await, "HttpRequestDenied");
    assert_eq!(other.connections(), 0, "and the guest gets no further than its grant");
}

/// The deadline of the event is half a minute: that these end at all is the work of the request's own time.
#[tokio::test]
async fn f1_a_server_that_does_not_answer_takes_the_requests_time_and_not_the_events() {
    let server = Server::start().await;
    let grant = || HttpGrant { timeout: Some(Duration::from_millis(200)), ..to(&server) };
    let told =
        outcomes(reach().requesting(grant()), json!([get(&server.url("/silent")), get(&server.url("/slow"))])).await;
    assert_error(&told[0], "HttpResponseTimeout");
    assert_eq!((&told[1]["status"], &told[1]["size"]), (&json!(200), &json!(1)), "{}", told[1]);
    assert!(told[1]["broken"].as_str().unwrap().contains("timeout"), "{}", told[1]);
    // A guest may be less patient than its grant, and not more.
    let hasty = json!({ "request": { "url": server.url("/silent"), "first-byte-ms": 50 } });
    assert_error(&one(reach().requesting(to(&server)), hasty).await, "HttpResponseTimeout");
    let patient = json!({ "request": { "url": server.url("/silent"), "first-byte-ms": 86_400_000 } });
    assert_error(&one(reach().requesting(grant()), patient).await, "HttpResponseTimeout");
}

#[tokio::test]
async fn f1_an_answer_is_bounded_whether_it_declares_its_size_or_not() {
    let server = Server::start().await;
    let grant = HttpGrant { response: 50_000, ..to(&server) };
    let paths =
        ["/large?50000", "/undeclared?50000", "/large?50001", "/undeclared?50001", "/fields?90", "/fields?5000"];
    let told =
        outcomes(reach().requesting(grant), paths.map(|path| get(&server.url(path))).into_iter().collect()).await;
    for whole in &told[..2] {
        assert_eq!((&whole["size"], &whole["broken"]), (&json!(50_000), &Value::Null), "{whole}");
    }
    assert_error(&told[2], "HttpResponseBodySize");
    assert!(told[3]["broken"].as_str().unwrap().contains("size exceeds limit"), "{}", told[3]);
    assert_eq!(told[4]["status"], 200);
    assert!(told[5]["error"].is_string(), "{}", told[5]);
}

#[tokio::test]
async fn f1_an_event_has_a_number_of_requests() {
    let server = Server::start().await;
    let listener = ready(reach().requesting(HttpGrant { requests: 3, ..to(&server) })).await;
    let acts = json!([{ "requests": [5, { "url": server.url("/echo") }] }]);
    for event in 1..=2 {
        let told = attempt(&listener, acts.clone()).await.unwrap().remove(0);
        let ended = |from, to| (from..to).map(|index: usize| told[index].clone()).collect::<Vec<_>>();
        assert!(ended(0, 3).iter().all(|it| it["status"] == 200), "{told}");
        assert!(ended(3, 5).iter().all(|it| it.as_str().unwrap().contains("ConnectionLimitReached")), "{told}");
        assert_eq!(server.connections(), 3 * event, "one connection for each request");
    }
}

#[tokio::test]
async fn what_frames_a_request_is_the_hosts() {
    let server = Server::start().await;
    let names = ["Host", "Connection", "Transfer-Encoding", "Upgrade", "Proxy-Authorization", "TE", "Keep-Alive"];
    let acts = names.map(|name| json!({ "request": { "url": server.url("/echo"), "headers": [[name, "x"]] } }));
    for (name, told) in names.iter().zip(outcomes(reach().requesting(to(&server)), acts.into_iter().collect()).await) {
        assert!(told["error"].as_str().unwrap().contains("Forbidden"), "{name}: {told}");
    }
    for method in ["CONNECT", "TRACE"] {
        let tunnel = json!({ "request": { "url": server.url("/echo"), "method": method } });
        assert_error(&one(reach().requesting(to(&server)), tunnel).await, "HttpRequestMethodInvalid");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn f1_more_fields_than_there_is_room_for_end_the_event_and_nothing_else() {
    let listener = ready(reach()).await;
    let failure = attempt(&listener, json!([{ "fields": 1_000_000 }])).await.unwrap_err();
    assert!(matches!(failure, ListenerFailure::Trap { .. } | ListenerFailure::BadReturn(_)), "{failure:?}");
    assert_eq!(attempt(&listener, json!([{ "fields": 10 }])).await.unwrap(), [json!(10)]);
}

/// The name is what counts, although the connection is made to an address.
#[tokio::test]
async fn a_server_is_who_it_says_to_be() {
    let (server, other) = (Server::certified("localhost").await, Server::certified("other.example").await);
    let origins = [server.at("localhost"), other.at("localhost"), server.at("127.0.0.1")];
    let acts: Value = origins.iter().map(|origin| get(&format!("{origin}/echo"))).collect();

    let trusting = |name| HttpGrant { roots: Some(certificate(name)), ..granted(&origins) };
    let told = outcomes(reach().requesting(trusting("localhost")), acts.clone()).await;
    assert_eq!((&told[0]["status"], &told[0]["broken"]), (&json!(200), &Value::Null), "{}", told[0]);
    assert_error(&told[1], "Tls");
    assert_error(&told[2], "Tls");
    let told = outcomes(reach().requesting(trusting("other.example")), acts.clone()).await;
    assert_error(&told[1], "Tls");
    for outcome in outcomes(reach().requesting(granted(&origins)), acts).await {
        assert_error(&outcome, "Tls");
    }
}
