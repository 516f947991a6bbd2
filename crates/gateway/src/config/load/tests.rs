use std::time::Duration;

use callgate_core::registry::{Exposure, Reach};
use callgate_wasm::{Capability, FolderAccess, FolderGrant, Hook, HttpGrant, SandboxConfig, SandboxLimits};

use super::*;
use crate::config::{CacheLocation, StateLocation};

/// Everything that the file can say. Listeners come last, as in the examples that users start from: wherever such a file
/// is cut off, what is left is missing a gate that `listeners` names.
const FULL: &str = r#"listeners = ["agent-mode", "approval-gate", "audit-trail"]

[caller.ada]
roles = ["writer", "reader"]
tenant = "acme"
claims = { email = "ada@example.org" }

[stdio]
caller = "ada"

[state]
path = "state.sqlite"

[sandbox]
cache = "compiled"
largest-component-mib = 64
compile-seconds = 30
compile-memory-mib = 512

[upstream.files]
command = ["node", "server.js", "/srv"]
env = { LEVEL = "info" }
cwd = "work"
unlisted = "hidden"
section = "documents"
prefix = "files__"

[upstream.files.tool.fetch]
section = "net"
generic = true

[permissions.documents]
"files/write_file" = ["writer"]

[listener.approval-gate]
component = "approval_gate.wasm"
capabilities = ["state"]
hooks = ["before-call"]
breaker = { failures = 3, pause-ms = 500, longest-pause-ms = 4000 }

[listener.agent-mode]
component = "agent_mode.wasm"
sha256 = "44136FA355B3678A1146AD16F7E8649E94FB4FC21FE77E8310C060F61CAAFF8A"
deadline-ms = 20
config = { writer = ["files__*"] }

[listener.audit-trail]
component = "audit_trail.wasm"
delivery = "behind-reply"
limits = { memory-mib = 16, payload-kib = 64, output-kib = 64, hostcall-fuel-mib = 8, stderr-kib = 4, concurrency = 2 }
"#;

fn parse(text: &str) -> Result<Config, Problems> {
    Config::parse(Source::new(Path::new("etc/callgate.toml"), text))
}

#[test]
fn a_full_file_says_what_it_means() {
    let config = parse(FULL).unwrap();

    let ada = config.stdio_caller.as_deref().unwrap();
    assert_eq!((ada.subject(), ada.identity().auth_method.as_str()), ("ada", "config"));
    assert!(ada.has_role("reader") && ada.identity().tenant.as_deref() == Some("acme"));
    assert_eq!(config.state, StateLocation::File("etc/state.sqlite".into()));

    let sandbox = &config.sandbox;
    assert_eq!(sandbox.cache, CacheLocation::Folder("etc/compiled".into()));
    assert_eq!((sandbox.largest_file, sandbox.compile_memory), (64 << 20, 512 << 20));
    assert_eq!(sandbox.compile_deadline, Duration::from_secs(30));

    let [files] = config.upstreams.as_slice() else { panic!("{:?}", config.upstreams) };
    assert_eq!((files.command.program.as_str(), files.line), ("node", 20));
    assert_eq!(files.command.directory.as_deref(), Some(Path::new("etc/work")));
    assert_eq!((files.unlisted, files.section.as_str()), (Exposure::Withheld, "documents"));
    assert_eq!(files.tools["fetch"].reach, Reach::Generic);
    assert!(config.permissions.names("files/write_file"));

    let names: Vec<_> = config.listeners.iter().map(|listener| listener.name.as_str()).collect();
    assert_eq!(names, ["agent-mode", "approval-gate", "audit-trail"]);
    let [mode, gate, trail] = config.listeners.as_slice() else { panic!("{names:?}") };
    assert_eq!(mode.component, Path::new("etc/agent_mode.wasm"));
    assert!(mode.pin.as_ref().is_some_and(|pin| pin.as_str().starts_with("44136fa3")));
    assert_eq!(mode.limits.decision_deadline, Duration::from_millis(20));
    assert_eq!(mode.values["writer"].as_str(), "[\"files__*\"]");
    assert_eq!((trail.limits.memory, trail.limits.stderr, trail.limits.concurrency), (16 << 20, 4 << 10, 2));
    assert_eq!(gate.hooks.as_deref(), Some([(Hook::BeforeCall, 38)].as_slice()));
    let breaker =
        [gate.breaker, mode.breaker].map(|it| (it.failures, it.pause.as_millis(), it.longest_pause.as_millis()));
    assert_eq!(breaker, [(3, 500, 4_000), (5, 1_000, 30_000)]);
}

#[test]
fn every_limit_of_the_file_is_the_limit_of_that_name() {
    let text = "listeners = [\"a\"]\n[listener.a]\ncomponent = \"a.wasm\"\ndeadline-ms = 1\n[listener.a.limits]\n\
                memory-mib = 2\ntable-elements = 3\ninstances = 4\nhandles = 5\nhostcall-fuel-mib = 6\nhost-calls = 7\n\
                payload-kib = 8\noutput-kib = 9\nstderr-kib = 10\nlog-kib = 11\nstate-kib = 12\nconcurrency = 13\n\
                ready = 14\npreparation-ms = 15";
    let expected = SandboxLimits {
        decision_deadline: Duration::from_millis(1),
        report_deadline: Duration::from_millis(1),
        memory: 2 << 20,
        table_elements: 3,
        instances: 4,
        handles: 5,
        hostcall_fuel: 6 << 20,
        host_calls: 7,
        payload: 8 << 10,
        output: 9 << 10,
        stderr: 10 << 10,
        log: 11 << 10,
        state: 12 << 10,
        concurrency: 13,
        ready: 14,
        preparation_deadline: Duration::from_millis(15),
    };
    assert_eq!(parse(text).unwrap().listeners[0].limits, expected);
}

#[test]
fn a_small_file_is_enough() {
    let config = parse("listeners = []").unwrap();
    assert_eq!(config.state, StateLocation::File("etc/callgate-state.sqlite".into()));
    assert!(config.stdio_caller.is_none() && config.listeners.is_empty());
    assert_eq!(config.sandbox.cache, CacheLocation::User);
    assert_eq!(config.sandbox.largest_file, SandboxConfig::default().largest_file);
}

#[test]
fn the_cache_is_a_folder_or_a_switch() {
    let cache = |value: &str| parse(&format!("listeners = []\n[sandbox]\ncache = {value}")).map(|it| it.sandbox.cache);
    assert_eq!(cache("true").unwrap(), CacheLocation::User);
    assert_eq!(cache("false").unwrap(), CacheLocation::Off);
    assert_eq!(cache("'/var/cache/x'").unwrap(), CacheLocation::Folder("/var/cache/x".into()));
    let problems = cache("1").unwrap_err().to_string();
    assert!(
        problems.contains("callgate.toml:3: ") && problems.contains("path of a folder, true or false"),
        "{problems}"
    );
}

/// What a file lets through, to compare a file with its beginnings.
fn gates(config: &Config) -> Vec<(&str, &Path)> {
    config.listeners.iter().map(|listener| (listener.name.as_str(), listener.component.as_path())).collect()
}

#[test]
fn a_file_cut_off_anywhere_never_has_fewer_gates() {
    let full = parse(FULL).unwrap();
    let mut refused = 0;
    for length in 0..FULL.len() {
        match parse(FULL.get(..length).unwrap()) {
            Err(_) => refused += 1,
            Ok(part) => {
                assert_eq!(gates(&part), gates(&full), "cut at {length}");
                assert_eq!(part.permissions, full.permissions, "cut at {length}");
                assert_eq!(part.listeners[1].hooks, full.listeners[1].hooks, "cut at {length}");
            }
        }
    }
    let last_table = FULL.find("[listener.audit-trail]").unwrap();
    assert!(refused > last_table, "only the tail of the last table may be missing");
}

/// Each fault with the line and a part of the reason that name it.
#[test]
fn a_fault_is_named_with_its_line_and_reason() {
    let upstream = "[upstream.a]\ncommand = [\"x\"]\nunlisted = \"shown\"\n";
    let cases = [
        ("", 1, "missing field `listeners`"),
        ("listeners = [", 1, "array"),
        ("listeners = []\nlisteners = []", 2, "duplicate key"),
        ("listeners = []\nlistener-s = []", 2, "unknown field `listener-s`"),
        ("listeners = []\n[upstream.a]\ncommand = [\"x\"]", 2, "missing field `unlisted`"),
        ("listeners = []\n[upstream.a]\ncommand = []\nunlisted = \"shown\"", 3, "the command is empty"),
        ("listeners = []\n[upstream.a]\ncommand = [\"x\"]\nunlisted = \"some\"", 4, "unknown variant `some`"),
        ("listeners = []\n[upstream.a]\ncommand = [\"x\"]\nunlisted = \"shown\"\nprefix = \"a b\"", 5, "a prefix has"),
        ("listeners = []\n[upstream.'a/b']\ncommand = [\"x\"]\nunlisted = \"shown\"", 2, "the name of an upstream"),
        ("listeners = [\n\"gate\"\n]", 2, "listener 'gate' has no table [listener.gate]"),
        ("listeners = []\n\n[listener.gate]\ncomponent = \"g.wasm\"", 3, "'gate' is missing in `listeners`"),
        ("listeners = [\"g\",\n\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"", 2, "named twice"),
        ("listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\nhooks = [\n\"beforecall\"]", 5, "beforecall"),
        ("listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\nhooks = []", 2, "uses no hook"),
        (
            "listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\ncapabilities = [\"net\"]",
            4,
            "unknown variant `net`",
        ),
        (
            "listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\n[listener.g.http]\norigins = [\"a.com\"]",
            5,
            "'a.com': an origin begins with http:// or https://",
        ),
        (
            "listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\n[listener.g.http]\nprivate-networks = true",
            4,
            "missing field `origins`",
        ),
        (
            "listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\n[[listener.g.folder]]\npath = \".\"\nas = \"/a\"",
            4,
            "missing field `access`",
        ),
        ("listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\nsha256 = \"12\"", 4, "64 hex digits"),
        ("listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\ndeadline-ms = 0", 4, "0 is not a number from 1"),
        (
            "listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\nlimits = { memory = 1 }",
            4,
            "unknown field `memory`",
        ),
        (
            "listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\n[listener.g.config]\nx = inf",
            2,
            "JSON has no number",
        ),
        (
            "listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\nhooks = [\"grant\"]\ndelivery = \"behind-reply\"",
            5,
            "`delivery` is for listeners that use after-call",
        ),
        (
            "listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\nbreaker = { pause-ms = 60000 }",
            4,
            "a pause of 60000 ms is longer than the longest pause of 30000 ms",
        ),
        ("listeners = []\n[stdio]\ncaller = \"bob\"", 3, "there is no [caller.bob]"),
        ("listeners = []\n[caller.'']", 2, "subject must have"),
        ("listeners = []\n[state]\npath = \"x\"\nmemory = true", 2, "both path and memory"),
        ("listeners = []\n[permissions.s]\n\"a/read\" = []", 3, "there is no [upstream.a]"),
    ];
    for (text, line, reason) in cases {
        let problems = parse(text).expect_err(text);
        let [problem] = problems.0.as_slice() else { panic!("{text}: {problems}") };
        assert_eq!(problem.line, Some(line), "{text}: {problem}");
        assert!(problem.reason.contains(reason), "{text}: {problem}");
        assert!(problem.to_string().starts_with(&format!("etc/callgate.toml:{line}: ")), "{problem}");
    }
    let problems = parse(&format!("listeners = []\n{upstream}[permissions.a]\n\"read\" = []")).unwrap_err();
    assert_eq!(problems.to_string(), "etc/callgate.toml:6: 'read' is not a method: UPSTREAM/TOOL");
}

#[test]
fn what_a_listener_may_reach_is_written_in_its_tables() {
    let config = parse(
        "listeners = [\"g\"]\n[listener.g]\ncomponent = \"g.wasm\"\ncapabilities = [\"log\", \"clocks\"]\n\
         [listener.g.http]\norigins = [\"https://A.example:443\", \"https://a.example\"]\ntimeout-ms = 20\n\
         max-request-kib = 1\nmax-response-kib = 2\nmax-requests = 3\nroot-certificates = \"ca.pem\"\n\
         [[listener.g.folder]]\npath = \"policy\"\nas = \"/policy\"\naccess = \"read-write\"",
    );
    let listener = config.unwrap().listeners.remove(0);
    let granted: Vec<_> = Capability::ALL.into_iter().filter(|capability| listener.grants(*capability)).collect();
    assert_eq!(granted, [Capability::Log, Capability::Clocks, Capability::Http, Capability::Folder]);
    let expected = HttpGrant {
        timeout: Some(Duration::from_millis(20)),
        request: 1 << 10,
        response: 2 << 10,
        requests: 3,
        roots: Some("etc/ca.pem".into()),
        ..HttpGrant::to(["https://a.example".parse().unwrap()])
    };
    assert_eq!(listener.http, Some((expected, 5)));
    let folder = FolderGrant { path: "etc/policy".into(), guest: "/policy".into(), access: FolderAccess::ReadWrite };
    assert_eq!(listener.folders, [(folder, 12)]);
}

#[test]
fn everything_that_is_wrong_is_named_at_once() {
    let problems =
        parse("listeners = [\"a\"]\n[stdio]\ncaller = \"bob\"\n[listener.b]\ncomponent = \"b\"").unwrap_err();
    let lines: Vec<_> = problems.0.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [Some(3), Some(1), Some(4)]);
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let problems = Config::load(Path::new("no/such/callgate.toml")).unwrap_err();
    assert!(problems.to_string().starts_with("no/such/callgate.toml: the file can not be read: "), "{problems}");
}
