//! Components that were built against other interfaces than there are (K14), and what is said about it.

use callgate_wasm::{Difference, LoadError};

use crate::kit;
use crate::sandbox::sandbox;

/// `callgate:listener` as another version of this project might have it: that text in place of this one.
fn hooks_with(found: &str, changed: &str) -> String {
    let types = include_str!("../../../../wit/v0.1/types.wit").replace("package callgate:listener@0.1.0;", "");
    let hook = include_str!("../../../../wit/v0.1/before-call.wit").replace("package callgate:listener@0.1.0;", "");
    let text = format!("package callgate:listener@0.1.0;\n{types}\n{hook}\nworld before {{ export before-call; }}");
    assert!(text.contains(found), "{found}");
    text.replacen(found, changed, 1)
}

async fn error_of(wit: &str, world: &str, core: &str) -> LoadError {
    sandbox().load_bytes(kit::component_of(wit, world, core), None).await.unwrap_err()
}

/// A component that decides, over that text.
async fn skewed_hook(wit: &str) -> LoadError {
    error_of(wit, "before", &format!("{} {} (i32.const 0))", kit::MEMORY, kit::BEFORE_DECIDE)).await
}

/// A component that decides and imports what that text says of it.
async fn skewed_import(packages: &str, import: &str, core: &str) -> LoadError {
    let hook = hooks_with("world before {", &format!("world before {{ import {import};"));
    let wit = format!("{hook}\n{packages}");
    error_of(&wit, "before", &format!("{core} {} {} (i32.const 0))", kit::MEMORY, kit::BEFORE_DECIDE)).await
}

#[track_caller]
fn assert_differs(error: &LoadError, at: (&str, &str), how: Difference) {
    let LoadError::WrongShape { interface, item, difference } = error else { panic!("{error}") };
    assert_eq!((interface.as_str(), item.as_str(), *difference), (at.0, at.1, how));
    let message = error.to_string();
    assert!(message.contains(at.0) && message.contains(at.1) && message.contains("build it against"), "{message}");
    for theirs in ["linker", "matching", "instance export", "mismatch", "expected"] {
        assert!(!message.contains(theirs), "{message}");
    }
}

#[tokio::test]
async fn the_interfaces_as_they_are_load() {
    let wit = hooks_with("world before", "world before");
    let core = format!("{} {} (i32.const 0))", kit::MEMORY, kit::BEFORE_DECIDE);
    sandbox().load_bytes(kit::component_of(&wit, "before", &core), None).await.unwrap();
}

#[tokio::test]
async fn a_hook_of_another_type_is_named() {
    let hook = ("callgate:listener/before-call@0.1.0", "decide");
    for (found, changed) in [
        ("result<verdict, string>", "result<verdict, u32>"),
        ("    answer(json),", "    answer(json),\n    defer,"),
        ("    proceed,", ""),
        ("private-reason: option<string>,", "private-reason: option<string>, code: u32,"),
        ("generic: bool,", ""),
        ("subject: string", "subject: u32"),
        ("decide: func(call: tool-call, row: row)", "decide: func(call: tool-call)"),
    ] {
        assert_differs(&skewed_hook(&hooks_with(found, changed)).await, hook, Difference::OtherType);
    }
}

#[tokio::test]
async fn a_hook_without_its_function_is_named() {
    let wit = "package callgate:listener@0.1.0;
        interface before-call { judge: func() -> bool; }
        world before { export before-call; }";
    let core = r#"(func (export "callgate:listener/before-call@0.1.0#judge") (result i32) (i32.const 0))"#;
    let error = error_of(wit, "before", core).await;
    assert_differs(&error, ("callgate:listener/before-call@0.1.0", "decide"), Difference::Missing);
}

#[tokio::test]
async fn an_extra_function_of_a_known_interface_is_named() {
    let host = "package callgate:host@0.1.0 { interface state { watch: func(key: u32); } }";
    let core = r#"(import "callgate:host/state@0.1.0" "watch" (func (param i32)))"#;
    let error = skewed_import(host, "callgate:host/state@0.1.0", core).await;
    assert_differs(&error, ("callgate:host/state@0.1.0", "watch"), Difference::Missing);

    let wasi = "package wasi:cli@0.2.0 { interface exit { vanish: func(); } }";
    let core = r#"(import "wasi:cli/exit@0.2.0" "vanish" (func))"#;
    let error = skewed_import(wasi, "wasi:cli/exit@0.2.0", core).await;
    assert_differs(&error, ("wasi:cli/exit@0.2.0", "vanish"), Difference::Missing);
}

#[tokio::test]
async fn a_function_of_another_type_is_named() {
    let wasi = "package wasi:cli@0.2.0 { interface exit { exit: func(status: u32); } }";
    let core = r#"(import "wasi:cli/exit@0.2.0" "exit" (func (param i32)))"#;
    let error = skewed_import(wasi, "wasi:cli/exit@0.2.0", core).await;
    assert_differs(&error, ("wasi:cli/exit@0.2.0", "exit"), Difference::OtherType);
}

#[tokio::test]
async fn interfaces_of_other_lines_are_told_from_unknown_ones() {
    for (packages, import, part) in [
        ("package wasi:cli@0.3.0 { interface exit { exit: func(); } }", "wasi:cli/exit@0.3.0", "there is WASI 0.2"),
        (
            "package callgate:host@0.2.0 { interface log { exit: func(); } }",
            "callgate:host/log@0.2.0",
            "callgate:host@0.1",
        ),
        (
            "package acme:evil@1.0.0 { interface exec { exit: func(); } }",
            "acme:evil/exec@1.0.0",
            "no listener can have",
        ),
        (
            "package callgate:host@0.1.0 { interface shell { exit: func(); } }",
            "callgate:host/shell@0.1.0",
            "no listener",
        ),
    ] {
        let core = format!(r#"(import "{import}" "exit" (func))"#);
        let error = skewed_import(packages, import, &core).await;
        let message = error.to_string();
        assert!(message.contains(import) && message.contains(part), "{message}");
        assert!(matches!(error, LoadError::UnknownImport { .. } | LoadError::WrongVersion { .. }), "{message}");
    }
}
