//! Components that are refused when they are loaded. Those that were built against other interfaces, and files that are no
//! component, are shown in the sandbox's own tests.

use callgate_kit as kit;
use callgate_tests::host;
use callgate_wasm::LoadError;

/// A component, the kind of its refusal, and what the message says.
type Refused = (&'static str, Vec<u8>, &'static str, &'static str);

fn all() -> Vec<Refused> {
    let with = |item: &str, count: usize| {
        let instances = "(core instance (instantiate $one))".repeat(count);
        kit::with_items(&kit::proceeding(), &format!("(core module $one {item}) {instances}"))
    };
    let whole = kit::proceeding();
    vec![
        ("wrong-world", kit::component_of(ELSEWHERE, "guest", RUNS), "no-hook", "acme:policy/rules"),
        ("truncated", whole[..whole.len() / 2].to_vec(), "truncated", "truncated"),
        ("imports-network", kit::component_of(NETWORK, "guest", CONNECTS), "unknown-import", "acme:net/tcp@1.0.0"),
        ("fifty memories", with("(memory 256)", 50), "invalid", "memories"),
        ("a table that no place has room for", with("(table 30000 funcref)", 1), "invalid", "table"),
        ("a memory that no place has room for", with("(memory 5000)", 1), "invalid", "memory"),
        ("more instances than a place has", with("", 10_001), "invalid", "instances"),
    ]
}

const ELSEWHERE: &str = "package acme:policy; interface rules { run: func(); } world guest { export rules; }";
const RUNS: &str = r#"(func (export "acme:policy/rules#run"))"#;

const NETWORK: &str = "package callgate:listener@0.1.0;
    interface before-call { decide: func() -> bool; }
    world guest { import acme:net/tcp@1.0.0; export before-call; }
    package acme:net@1.0.0 { interface tcp { connect: func(); } }";
const CONNECTS: &str = r#"(import "acme:net/tcp@1.0.0" "connect" (func $connect))
    (func (export "callgate:listener/before-call@0.1.0#decide") (result i32) (call $connect) (i32.const 0))"#;

fn kind(error: &LoadError) -> &'static str {
    match error {
        LoadError::Truncated { .. } => "truncated",
        LoadError::NoHook { .. } => "no-hook",
        LoadError::UnknownImport { .. } => "unknown-import",
        LoadError::Invalid(_) => "invalid",
        _ => "another",
    }
}

#[tokio::test]
async fn f1_what_could_never_be_asked_does_not_load() {
    for (name, bytes, expected, says) in all() {
        let error = host::load_bytes(bytes).await.expect_err(name);
        let message = error.to_string();
        assert_eq!(kind(&error), expected, "{name}: {message}");
        assert!(message.contains(says), "{name}: `{says}` is not in: {message}");
        assert!(!message.contains(char::is_control), "{name}: {message:?}");
    }
}
