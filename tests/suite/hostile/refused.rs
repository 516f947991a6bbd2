//! Components that are refused when they are loaded, each by a name and for a reason of its own.

use callgate_kit as kit;
use callgate_tests::host;
use callgate_wasm::LoadError;

fn kind(error: &LoadError) -> &'static str {
    match error {
        LoadError::Truncated { .. } => "truncated",
        LoadError::NoHook { .. } => "no-hook",
        LoadError::UnknownImport { .. } => "unknown-import",
        LoadError::WrongVersion { .. } => "wrong-version",
        LoadError::WrongShape(_) => "wrong-shape",
        LoadError::Invalid(_) => "invalid",
        _ => "another",
    }
}

/// A component, the kind of its refusal, and what the message says.
type Refused = (&'static str, Vec<u8>, &'static str, &'static [&'static str]);

fn by_their_interfaces() -> Vec<Refused> {
    vec![
        (
            "wrong-world",
            kit::component_of(ELSEWHERE, "guest", RUNS),
            "no-hook",
            &["acme:policy/rules", "before-call@0.1"],
        ),
        ("imports-network", importing("wasi:sockets/tcp@0.3.0"), "unknown-import", &["wasi:sockets/tcp@0.3.0"]),
        ("imports of a stranger", importing("acme:net/tcp@1.0.0"), "unknown-import", &["acme:net/tcp@1.0.0"]),
        ("imports of a later WASI", importing("wasi:cli/stderr@0.3.0"), "unknown-import", &["wasi:cli/stderr@0.3.0"]),
        (
            "imports of a later host",
            importing("callgate:host/log@0.3.0"),
            "wrong-version",
            &["callgate:host/log@0.3.0"],
        ),
        ("a function that the host lacks", importing("callgate:host/log@0.1.0"), "wrong-shape", &["callgate:host/log"]),
        ("a function that WASI lacks", importing("wasi:cli/exit@0.2.0"), "wrong-shape", &["wasi:cli/exit"]),
        (
            "a level that the host lacks",
            kit::component_of(LEVELS, "guest", WRITES),
            "wrong-shape",
            &["callgate:host/log"],
        ),
        (
            "a verdict that the host lacks",
            kit::component_of(VERDICTS, "guest", DECIDES),
            "wrong-shape",
            &["before-call"],
        ),
    ]
}

fn by_their_size() -> Vec<Refused> {
    let with = |item: &str, count: usize| {
        let instances = "(core instance (instantiate $one))".repeat(count);
        kit::with_items(&kit::proceeding(), &format!("(core module $one {item}) {instances}"))
    };
    let whole = kit::proceeding();
    vec![
        ("truncated", whole[..whole.len() / 2].to_vec(), "truncated", &["truncated"]),
        ("fifty memories", with("(memory 256)", 50), "invalid", &["memories"]),
        ("a table that no place has room for", with("(table 30000 funcref)", 1), "invalid", &["table"]),
        ("a memory that no place has room for", with("(memory 5000)", 1), "invalid", &["memory"]),
        ("more instances than a place has", with("", 10_001), "invalid", &["instances"]),
    ]
}

const ELSEWHERE: &str = "package acme:policy; interface rules { run: func(); } world guest { export rules; }";
const RUNS: &str = r#"(func (export "acme:policy/rules#run"))"#;

/// The host's log with a level more.
const LEVELS: &str = "package test:foreign;
    world guest { import callgate:host/log@0.1.0; export callgate:listener/before-call@0.1.0; }
    package callgate:host@0.1.0 {
      interface log { enum level { debug, info, warn, error, fatal } write: func(level: level, message: string); }
    }
    package callgate:listener@0.1.0 { interface before-call { decide: func() -> bool; } }";
const WRITES: &str = r#"
    (import "callgate:host/log@0.1.0" "write" (func (param i32 i32 i32)))
    (memory (export "memory") 1)
    (func (export "callgate:listener/before-call@0.1.0#decide") (result i32) (i32.const 0))"#;

/// A hook that has one more thing to say.
const VERDICTS: &str = "package callgate:listener@0.1.0;
    interface before-call {
      variant verdict { proceed, postpone }
      decide: func() -> result<verdict, string>;
    }
    world guest { export before-call; }";
const DECIDES: &str = r#"
    (memory (export "memory") 1)
    (func (export "callgate:listener/before-call@0.1.0#decide") (result i32) (i32.const 0))"#;

/// Imports a function `run` of that interface, and calls it.
fn importing(interface: &str) -> Vec<u8> {
    let (package, rest) = interface.split_once('/').unwrap();
    let (name, version) = rest.split_once('@').unwrap();
    let wit = format!(
        "package test:foreign; world guest {{ import {interface}; export callgate:listener/before-call@0.1.0; }}
         package {package}@{version} {{ interface {name} {{ run: func(); }} }}
         package callgate:listener@0.1.0 {{ interface before-call {{ decide: func() -> bool; }} }}"
    );
    let core = format!(
        r#"(import "{interface}" "run" (func $run))
           (func (export "callgate:listener/before-call@0.1.0#decide") (result i32) (call $run) (i32.const 0))"#
    );
    kit::component_of(&wit, "guest", &core)
}

async fn every_one_is_refused(components: Vec<Refused>) {
    for (name, bytes, expected, says) in components {
        let error = host::load_bytes(bytes).await.expect_err(name);
        assert_eq!(kind(&error), expected, "{name}: {error}");
        let message = error.to_string();
        for part in says {
            assert!(message.contains(part), "{name}: `{part}` is not in: {message}");
        }
        assert!(!message.contains(char::is_control), "{name}: {message:?}");
    }
}

#[tokio::test]
async fn f1_what_wants_other_interfaces_does_not_load() {
    every_one_is_refused(by_their_interfaces()).await;
}

#[tokio::test]
async fn f1_what_no_place_can_hold_does_not_load() {
    every_one_is_refused(by_their_size()).await;
}
