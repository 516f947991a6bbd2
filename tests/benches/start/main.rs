//! How long it takes until listeners can be asked: the engine, the first load of a component, and the same at the next start,
//! when its compiled code is there.
//!
//! Needs the puppet and, for its lines, the listener in Python: `cargo xtask guests` and `cargo xtask setup` build them. What
//! is not there is left out, and said to be.
#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark is no part of the product: it prints, and a panic is how it fails"
)]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use callgate_tests::built::{build_callgate, callgate, root};
use callgate_wasm::{Compiler, CompilerCommand, Sandbox, SandboxConfig, bench};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const ROUNDS: usize = 10;
/// A large component compiles for seconds.
const COLD_ROUNDS: usize = 3;

fn main() {
    // Cargo asks every target whether it has tests.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    build_callgate();
    println!("{:<58} {:>6} {:>10} {:>10}", "", "rounds", "p50", "max");
    let config = SandboxConfig::default();
    time("engine starts, with its self-test", ROUNDS, || drop(sandbox(&config)));
    let started = sandbox(&config);
    time("self-test alone: a guest that never ends is stopped", ROUNDS, || bench::self_test(&started));
    for (what, component) in [("Rust", "wasm32-wasip2/release/puppet.wasm"), ("Python", "py/listener.wasm")] {
        let component = root().join("target/guests").join(component);
        match component.metadata() {
            Ok(file) => measure(&format!("{what}, {:.1} MB", file.len() as f64 / 1e6), &component),
            Err(_) => println!("{what}: left out, there is no {}", component.display()),
        }
    }
}

fn measure(what: &str, component: &Path) {
    let in_process = SandboxConfig::default();
    let child = CompilerCommand { program: callgate(), arguments: vec!["compile-component".into()], memory: 2 << 30 };
    let in_child = SandboxConfig { compiler: Compiler::Child(child), ..SandboxConfig::default() };
    for (how, config) in [("in this process", &in_process), ("in a process of its own", &in_child)] {
        let started = sandbox(config);
        time(&format!("{what}: compiled {how}"), COLD_ROUNDS, || load(&started, component));
    }
    let folder = TempDir::new().expect("a folder can be made");
    let config = SandboxConfig { cache: Some(folder.path().into()), ..SandboxConfig::default() };
    load(&sandbox(&config), component);
    let started = sandbox(&config);
    time(&format!("{what}: loaded from the cache"), ROUNDS, || load(&started, component));
    assert_eq!(started.loads().compiled, 0, "the cache was not used");
    time(&format!("{what}: second start, engine and load"), ROUNDS, || load(&sandbox(&config), component));
    check(what, component);
}

/// The whole program, from its start to its end, in front of no server.
fn check(what: &str, component: &Path) {
    let folder = TempDir::new().expect("a folder can be made");
    let text = format!(
        "listeners = [\"gate\"]\n[sandbox]\ncache = \"compiled\"\n[listener.gate]\ncomponent = {component:?}\ndeadline-ms = 60000\n"
    );
    std::fs::write(folder.path().join("callgate.toml"), text).expect("the folder can be written");
    let run = || {
        let mut command = Command::new(callgate());
        let done = command.arg("check").current_dir(folder.path()).stdout(Stdio::null()).status();
        assert!(done.expect("the program starts").success(), "the check fails");
    };
    run();
    time(&format!("{what}: second run of callgate check, the whole process"), ROUNDS, run);
}

fn sandbox(config: &SandboxConfig) -> Sandbox {
    Sandbox::new(config.clone()).expect("the sandbox starts")
}

/// With a runtime of its own, as a program has when it starts.
fn load(sandbox: &Sandbox, component: &Path) {
    let runtime: Runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime starts");
    runtime.block_on(sandbox.load(component, None)).expect("the component loads");
}

fn time(what: &str, rounds: usize, mut run: impl FnMut()) {
    let mut times: Vec<Duration> = Vec::with_capacity(rounds);
    for _ in 0..rounds {
        let begun = Instant::now();
        run();
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    let millis = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
    println!("{what:<58} {rounds:>6} {:>7.1} ms {:>7.1} ms", millis(times.get(rounds / 2)), millis(times.last()));
}
