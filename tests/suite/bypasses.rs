//! Whatever spelling a call comes in, it is governed (N5, W3). The upstream's tool would write a line into a file, and the
//! caller may not have it. At the end that file is not there, and the upstream has heard of no call: a server more lenient
//! than this one might have run it.

use std::path::{Path, PathBuf};

use callgate_tests::gateway::{Configuration, Gateway};
use callgate_tests::peers;
use callgate_tests::waiting::lines;
use callgate_tests::wire::{Revision, Wire};
use serde_json::{Value, json};

/// What comes back for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comes {
    /// An error, or a result that says that it is one.
    Error,
    /// Nothing: it was no request.
    Nothing,
}
use Comes::{Error, Nothing};

/// `record` is for administrators, and Ada is a writer. What the server hears is kept in a file.
fn gateway() -> (Gateway, PathBuf) {
    let server: Vec<_> = peers::python_server().iter().map(|word| format!("'{}'", word.to_string_lossy())).collect();
    let listening = format!("tee heard.txt | {}", server.join(" "));
    let gateway = Configuration::new()
        .and("[caller.root]\nroles = [\"admin\", \"writer\"]")
        .upstream("python", &["sh".into(), "-c".into(), listening.into()])
        .and("cwd = \".\"\n[permissions.python]\n\"python/record\" = [\"admin\"]")
        .write();
    let counter = gateway.folder().join("runs.txt");
    (gateway, counter)
}

/// The calls that the server has heard, by a reader that ends a line at a carriage return too.
fn heard(gateway: &Gateway) -> usize {
    let heard = std::fs::read_to_string(gateway.folder().join("heard.txt")).unwrap();
    assert!(heard.contains("tools/list"), "the file holds what the server hears: {heard}");
    let lines = heard.split(['\n', '\r']).filter(|line| !line.is_empty());
    let messages = lines.map(|line| serde_json::from_str::<Value>(line).expect("a line is one message"));
    messages.filter(|message| message["method"] == "tools/call").count()
}

/// Ways to say "run `record`", each with what is to come of it. `ID` becomes a number of its own, `CALL` a proper call.
fn corpus(counter: &Path) -> Vec<(Vec<u8>, Comes)> {
    let arguments = json!({ "path": counter, "line": "ran" }).to_string();
    let texts = [
        // A proper call, and in another spelling.
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"record","arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools\/call","params":{"name":"\u0072ecord","arguments":ARGS}}"#, Error),
        (
            r#"{"jsonrpc":"2.0","id":"ID","method":"\u0074ools/call","params":{"name":"record","arguments":ARGS}}"#,
            Error,
        ),
        (r#"{"params":{"arguments":ARGS,"name":"record"},"method":"tools/call","id":ID,"jsonrpc":"2.0"}"#, Error),
        // Several messages in one line.
        ("[CALL]", Error),
        ("[CALL,CALL]", Error),
        ("[[CALL]]", Error),
        ("CALL CALL", Error),
        ("{}CALL", Error),
        ("CALL,", Error),
        // Keys that stand there twice, at every depth.
        (
            r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"greet","name":"record","arguments":ARGS}}"#,
            Error,
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"record","name":"greet","arguments":ARGS}}"#,
            Error,
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"greet","n\u0061me":"record","arguments":ARGS}}"#,
            Error,
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"method":"ping","method":"tools/call","params":{"name":"record","arguments":ARGS}}"#,
            Error,
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"greet"},"params":{"name":"record","arguments":ARGS}}"#,
            Error,
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"record","arguments":{"line":"a","line":"b"}}}"#,
            Error,
        ),
        (
            r#"{"jsonrpc":"2.0","id":ID,"id":null,"method":"tools/call","params":{"name":"record","arguments":ARGS}}"#,
            Error,
        ),
        // Keys that a lenient parser takes for others.
        (
            r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"greet","Name":"record","arguments":ARGS}}"#,
            Error,
        ),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"NAME":"record","arguments":ARGS}}"#, Error),
        (
            r#"{"jsonrpc":"2.0","id":ID,"method":"ping","Method":"tools/call","params":{"name":"record","arguments":ARGS}}"#,
            Error,
        ),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"ping","params":{},"Params":{"name":"record","arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","paramſ":{"name":"record","arguments":ARGS}}"#, Error),
        // No request, or none that could be answered.
        (r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"record","arguments":ARGS}}"#, Nothing),
        (r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"record","arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"tools/call","params":{"name":"record","arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{"name":"record","arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"tools/call","params":{"name":"record","arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"2.0","id":true,"method":"tools/call","params":{"name":"record","arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"1.0","id":ID,"method":"tools/call","params":{"name":"record","arguments":ARGS}}"#, Error),
        (r#"{"id":ID,"method":"tools/call","params":{"name":"record","arguments":ARGS}}"#, Error),
        (
            r#"{"jsonrpc":"2.0","id":ID,"result":{},"method":"tools/call","params":{"name":"record","arguments":ARGS}}"#,
            Error,
        ),
        (r#"{"jsonrpc":"2.0","id":ID,"result":CALL}"#, Nothing),
        // Parameters and names that are none.
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":["record",ARGS]}"#, Error),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":"record"}"#, Error),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call"}"#, Error),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":["record"],"arguments":ARGS}}"#, Error),
        (
            r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":{"name":"record"},"arguments":ARGS}}"#,
            Error,
        ),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"record ","arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"Record","arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"record\u0000","arguments":ARGS}}"#, Error),
        (
            r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call","params":{"name":"record","arguments":"x","task":{"ttl":1}}}"#,
            Error,
        ),
        // Other methods that lenient servers may take for a call.
        (r#"{"jsonrpc":"2.0","id":ID,"method":"Tools/Call","params":{"name":"record","arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"2.0","id":ID,"method":"tools/call ","params":{"name":"record","arguments":ARGS}}"#, Error),
        (r#"{"jsonrpc":"2.0","id":ID,"method":["tools/call"],"params":{"name":"record","arguments":ARGS}}"#, Error),
        // One message within another, for readers that end a line at a carriage return.
        ("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/other\",\"params\":{\"x\":\rCALL\r}}", Nothing),
    ];
    let mut next = 100;
    let mut number = move || {
        next += 1;
        next.to_string()
    };
    let mut corpus: Vec<_> = texts
        .into_iter()
        .map(|(text, comes)| {
            let call = format!(
                r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"record","arguments":{arguments}}}}}"#,
                number()
            );
            let text = text.replace("CALL", &call).replace("ARGS", &arguments).replace("ID", &number());
            (text.into_bytes(), comes)
        })
        .collect();
    let call = corpus[0].0.clone();
    corpus.push(([&b"\xef\xbb\xbf"[..], &call].concat(), Error));
    corpus.push(([&call[..], b"\xff"].concat(), Error));
    corpus.push(([&call[..], b"\0"].concat(), Error));
    corpus.push((call[..call.len() - 1].to_vec(), Error));
    corpus
}

fn is_error(message: &Value) -> bool {
    message.get("error").is_some() || message["result"]["isError"] == true
}

/// Says every line of the corpus and waits for all that is to come of them.
async fn say_all(wire: &mut Wire, counter: &Path) {
    for (line, comes) in corpus(counter) {
        wire.send_bytes(&line).await;
        if comes == Error {
            let response = wire.response().await;
            let message: Value = serde_json::from_str(&response).unwrap();
            assert!(is_error(&message), "{}\n{response}", String::from_utf8_lossy(&line));
        }
    }
}

#[tokio::test]
async fn n5_w3_no_spelling_of_a_call_gets_past_the_gate() {
    let (gateway, counter) = gateway();
    let mut wire = gateway.start();
    wire.begin(Revision::November2025).await;
    say_all(&mut wire, &counter).await;
    // What was dropped as a notification, or passed on as one, would have been before this answer.
    assert!(wire.answer(&Revision::November2025.request(9, "ping", json!({}))).await.get("result").is_some());
    assert_eq!(wire.close().await, [""; 0]);
    assert_eq!((lines(&counter), heard(&gateway)), (0, 0));
}

#[tokio::test]
async fn w3_before_the_handshake_a_call_is_governed_like_after_it() {
    let (gateway, counter) = gateway();
    let mut wire = gateway.start();
    say_all(&mut wire, &counter).await;
    drop(wire.close().await);
    assert_eq!((lines(&counter), heard(&gateway)), (0, 0));
}

#[tokio::test]
async fn w3_in_the_modern_era_too() {
    let (gateway, counter) = gateway();
    let mut wire = gateway.start();
    wire.begin(Revision::July2026).await;
    let arguments = json!({ "path": counter, "line": "ran" });
    let refused = wire.answer(&Revision::July2026.call(1, "record", &arguments)).await;
    assert_eq!(refused["error"]["message"], "Error: Unknown tool 'record'.");
    say_all(&mut wire, &counter).await;
    drop(wire.close().await);
    assert_eq!((lines(&counter), heard(&gateway)), (0, 0));
}

/// Without this the tests above would prove nothing: the call is one that runs for somebody who may.
#[tokio::test]
async fn g2_the_same_call_runs_for_whom_it_is_permitted() {
    let (gateway, counter) = gateway();
    let mut server = gateway.serve();
    server.extend(["--as".into(), "root".into()]);
    let mut wire = Wire::start(&server);
    wire.begin(Revision::November2025).await;
    wire.send_bytes(&corpus(&counter)[0].0).await;
    let ran = wire.response().await;
    assert!(!is_error(&serde_json::from_str(&ran).unwrap()), "{ran}");
    drop(wire.close().await);
    assert_eq!((lines(&counter), heard(&gateway)), (1, 1));
}
