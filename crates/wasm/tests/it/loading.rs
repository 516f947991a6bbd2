//! What does not load, and what the message says to do about it.

use std::path::Path;
use std::sync::Arc;

use callgate_core::json::digest;
use callgate_wasm::{Capability, LoadError, Pin, Sandbox, SandboxConfig, Standing};
use tempfile::TempDir;

use crate::kit;
use crate::sandbox::sandbox;

async fn error(bytes: impl Into<Vec<u8>>) -> LoadError {
    sandbox().load_bytes(bytes.into(), None).await.unwrap_err()
}

#[track_caller]
fn assert_says(error: &LoadError, parts: &[&str]) {
    let message = error.to_string();
    for part in parts {
        assert!(message.contains(part), "{message}");
    }
    assert!(!message.ends_with('.') && !message.contains('\n'), "{message}");
}

#[tokio::test]
async fn a_file_that_is_none_is_told_apart() {
    let folder = TempDir::new().unwrap();
    let load = async |path: &Path| sandbox().load(path, None).await.unwrap_err();
    assert_says(&load(&folder.path().join("none.wasm")).await, &["no such file"]);
    assert_says(&load(folder.path()).await, &["no regular file"]);
    let file = folder.path().join("empty.wasm");
    std::fs::write(&file, "").unwrap();
    assert_says(&load(&file).await, &["empty"]);
}

#[tokio::test]
async fn a_component_loads_from_a_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("guest.wasm");
    let bytes = kit::proceeding();
    std::fs::write(&file, &bytes).unwrap();
    let component = sandbox().load(&file, None).await.unwrap();
    assert_eq!(component.digest(), digest(&bytes));
    assert_eq!(component.size(), bytes.len() as u64);
    assert!(component.exported().before_call && !component.exported().grant && !component.exported().after_call);
}

#[tokio::test]
async fn a_file_that_is_too_large_is_not_read_to_its_end() {
    let sandbox = Sandbox::new(SandboxConfig { slots: 1, largest_file: 100, ..SandboxConfig::default() }).unwrap();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("large.wasm");
    std::fs::write(&file, kit::proceeding()).unwrap();
    let error = sandbox.load(&file, None).await.unwrap_err();
    assert!(matches!(error, LoadError::TooLarge { most: 100, .. }), "{error}");
}

#[tokio::test]
async fn bytes_that_are_no_component_are_told_apart() {
    assert_says(&error("<!doctype html><title>404</title>").await, &["HTML", "download it again"]);
    assert_says(&error("not found\n").await, &["text"]);
    assert_says(&error(wat::parse_str("(module)").unwrap()).await, &["core WebAssembly module", "wasm32-wasip2"]);
    let whole = kit::proceeding();
    for length in [4, 8 + 3, whole.len() / 2, whole.len() - 1] {
        let error = error(&whole[..length]).await;
        assert!(matches!(error, LoadError::Truncated { .. }), "{length}: {error}");
    }
    let precompiled = wasmtime::Engine::default().precompile_component(&whole).unwrap();
    assert_says(&error(precompiled).await, &["precompiled"]);
}

#[tokio::test]
async fn a_component_that_is_damaged_inside_does_not_load() {
    let mut bytes = kit::proceeding();
    let middle = bytes.len() / 3;
    bytes[middle..middle + 16].fill(0xff);
    assert!(matches!(error(bytes).await, LoadError::Invalid(_) | LoadError::Truncated { .. }));
}

#[tokio::test]
async fn features_that_are_off_do_not_compile() {
    let wide = kit::with_items(&kit::proceeding(), "(core module (memory i64 1))");
    assert_says(&error(wide).await, &["does not compile", "memory64"]);
    let many = kit::with_items(&kit::proceeding(), "(core module (memory 1) (memory 1))");
    assert_says(&error(many).await, &["does not compile", "memories"]);
}

#[tokio::test]
async fn a_component_that_no_place_can_hold_does_not_load() {
    let instances = "(core instance (instantiate $none))".repeat(100);
    let many = kit::with_items(&kit::proceeding(), &format!("(core module $none) {instances}"));
    assert!(matches!(error(many).await, LoadError::Invalid(_)));
}

#[tokio::test]
async fn a_component_without_a_hook_says_what_it_exports() {
    let elsewhere = kit::component("elsewhere", r#"(func (export "test:kit/other#run"))"#);
    assert_says(&error(elsewhere).await, &["test:kit/other", "callgate:listener/before-call@0.1.0"]);
    assert_says(&error(wat::parse_str("(component)").unwrap()).await, &["exports no hook", "nothing"]);
}

#[tokio::test]
async fn a_component_of_another_version_says_which() {
    let newer = r#"(func (export "callgate:listener/before-call@0.2.0#decide") (result i32) (i32.const 0))"#;
    let error = error(kit::component("newer", newer)).await;
    assert_says(&error, &["callgate:listener/before-call@0.2.0", "callgate:listener@0.1"]);
    assert!(matches!(error, LoadError::WrongVersion { .. }));
}

#[tokio::test]
async fn an_import_that_nobody_can_have_is_named() {
    let core = format!(
        r#"(import "acme:evil/exec@1.0.0" "run" (func $run)) {} {} (call $run) (i32.const 0))"#,
        kit::MEMORY,
        kit::BEFORE_DECIDE
    );
    let error = error(kit::component("unknown", &core)).await;
    assert_says(&error, &["acme:evil/exec@1.0.0"]);
    assert!(matches!(error, LoadError::UnknownImport { .. }));
}

#[tokio::test]
async fn a_pin_that_does_not_fit_gives_both_digests() {
    let bytes = kit::proceeding();
    let (right, wrong) = (digest(&bytes), "0".repeat(64));
    let load = async |pin: &str| sandbox().load_bytes(bytes.clone(), Some(&Pin::parse(pin).unwrap())).await;
    load(&right.to_uppercase()).await.unwrap();
    assert_says(&load(&wrong).await.unwrap_err(), &[&right, &wrong]);
}

#[tokio::test]
async fn a_component_compiles_once_for_as_long_as_it_is_used() {
    let load = async || sandbox().load_bytes(kit::denying("only here"), None).await.unwrap();
    let (first, second) = (load().await, load().await);
    assert!(Arc::ptr_eq(&first, &second));
    let last = Arc::downgrade(&first);
    drop((first, second));
    assert!(last.upgrade().is_none(), "nobody uses it any more");
    load().await;
}

#[tokio::test]
async fn imports_are_told_with_what_is_behind_them() {
    let core = format!(
        r#"(import "callgate:host/state@0.1.0" "get" (func (param i32 i32 i32)))
           (import "callgate:listener/registry@0.1.0" "count" (func (result i32)))
           (import "wasi:cli/stderr@0.2.0" "get-stderr" (func (result i32)))
           {} {} (i32.const 0))"#,
        kit::MEMORY,
        kit::BEFORE_DECIDE
    );
    let component = sandbox().load_bytes(kit::component("before", &core), None).await.unwrap();
    let standing = |name: &str| {
        component.imports().iter().find(|import| import.name.starts_with(name)).map(|import| import.standing)
    };
    assert_eq!(standing("callgate:host/state@"), Some(Standing::Granted(Capability::State)));
    assert_eq!(standing("callgate:listener/registry@"), Some(Standing::Provided));
    assert_eq!(standing("wasi:cli/stderr@"), Some(Standing::Empty));
    assert_eq!(standing("wasi:clocks/"), None);
}
