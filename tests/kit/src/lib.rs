//! Builds components out of a few lines of WebAssembly text.
//!
//! A hook's core function gets its parameters in memory or, for the grant hook, flat; it returns a pointer to a result laid
//! out as the canonical ABI says. For `decide` of before-call: at 0 the result's discriminant, at 4 the verdict's, from 8 on
//! its texts as pointer and length.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    reason = "this is a part of tests, where a panic is how a failure is told"
)]

pub mod imports;

use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The beginning of the before-call hook. `$call` points to the call.
pub const BEFORE_DECIDE: &str =
    r#"(func $decide (export "callgate:listener/before-call@0.1.0#decide") (param $call i32) (result i32)"#;
/// The beginning of the after-call hook. `$report` points to the report, which begins with the call.
pub const AFTER_NOTIFY: &str =
    r#"(func $notify (export "callgate:listener/after-call@0.1.0#notify") (param $report i32) (result i32)"#;
/// The beginning of the grant hook. `$subject` points to the caller's name, which has `$length` bytes.
pub const GRANT_DECIDE: &str = r#"(func $grant (export "callgate:listener/grant@0.1.0#decide")
    (param $subject i32) (param $length i32)
    (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32 i32) (result i32)"#;

/// The beginning of the preparation.
pub const PREPARE: &str = r#"(func $prepare (export "callgate:listener/prepare@0.1.0#prepare") (result i32)"#;

/// Memory, and an allocator that never frees. Results are written below 64 KiB, allocations begin above.
pub const MEMORY: &str = r#"
  (memory (export "memory") 4)
  (global $next (mut i32) (i32.const 65536))
  (func (export "cabi_realloc") (param $old i32) (param $was i32) (param $align i32) (param $size i32) (result i32)
    (local $at i32)
    (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
    (global.set $next (i32.add (local.get $at) (local.get $size)))
    (if (i32.gt_u (global.get $next) (i32.mul (memory.size) (i32.const 65536)))
      (then (drop (memory.grow (i32.add (i32.div_u (local.get $size) (i32.const 65536)) (i32.const 1))))))
    (local.get $at))
"#;

/// A component of a world of `kit.wit` around a core module with that text.
pub fn component(world: &str, core: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    resolve.push_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../wit/v0.1")).unwrap();
    let package = resolve.push_str("kit.wit", include_str!("kit.wit")).unwrap();
    encode(&resolve, package, world, core)
}

/// The same for interfaces of one's own.
pub fn component_of(wit: &str, world: &str, core: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("own.wit", wit).unwrap();
    encode(&resolve, package, world, core)
}

fn encode(resolve: &Resolve, package: wit_parser::PackageId, world: &str, core: &str) -> Vec<u8> {
    let world = resolve.select_world(&[package], Some(world)).unwrap();
    let mut module = wat::parse_str(format!("(module {core})")).unwrap_or_else(|error| panic!("{error}"));
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8, false).unwrap();
    ComponentEncoder::default().module(&module).unwrap().validate(true).encode().unwrap()
}

/// A component whose before-call hook runs that body. `$call` points to the call.
pub fn before(body: &str) -> Vec<u8> {
    before_with("", body)
}

/// The same with imports, functions and data in front of it.
pub fn before_with(items: &str, body: &str) -> Vec<u8> {
    component("before", &format!("{items} {MEMORY} {BEFORE_DECIDE} {body})"))
}

/// A component with all three hooks: items, and the bodies of grant, before-call and after-call. The items bring the memory
/// and the allocator, most of them [`MEMORY`].
pub fn with_all_hooks(items: &str, bodies: [&str; 3]) -> Vec<u8> {
    component("all", &format!("{items} {}", hooks(bodies)))
}

/// The same with a preparation in front.
pub fn with_preparation(items: &str, prepare: &str, bodies: [&str; 3]) -> Vec<u8> {
    component("all-prepared", &format!("{items} {PREPARE} {prepare}) {}", hooks(bodies)))
}

fn hooks([grant, before, after]: [&str; 3]) -> String {
    format!("{GRANT_DECIDE} {grant}) {BEFORE_DECIDE} {before}) {AFTER_NOTIFY} {after})")
}

/// The component with more items at its end, in component text.
pub fn with_items(component: &[u8], items: &str) -> Vec<u8> {
    let text = wasmprinter::print_bytes(component).unwrap();
    let body = text.trim_end().strip_suffix(')').unwrap();
    wat::parse_str(format!("{body} {items})")).unwrap_or_else(|error| panic!("{error}"))
}

/// A body that lets the call proceed: an ok result with the first verdict, which is what memory holds anyway.
pub const PROCEED: &str = "(i32.const 0)";

/// A body that denies for the reason that begins at 1024 and has that length.
pub fn deny_with(length: usize) -> String {
    format!(
        "(i32.store8 (i32.const 4) (i32.const 1)) (i32.store (i32.const 8) (i32.const 1024))
         (i32.store (i32.const 12) (i32.const {length})) (i32.const 0)"
    )
}

/// A component that lets every call proceed.
pub fn proceeding() -> Vec<u8> {
    before(PROCEED)
}

/// A component that denies every call for that reason.
pub fn denying(reason: &str) -> Vec<u8> {
    before_with(&format!("(data (i32.const 1024) \"{reason}\")"), &deny_with(reason.len()))
}
