//! Bytes that are offered as a component.

use std::error::Error;
use std::sync::{LazyLock, Mutex};

use callgate_core::json::digest;
use callgate_wasm::{LoadError, Sandbox, SandboxConfig};
use tokio::runtime::{Builder, Runtime};

/// The longest text of an error, in characters: a message of the compiler, or sixteen names.
const LONGEST_TEXT: usize = 4_096;

static SANDBOX: LazyLock<(Mutex<Runtime>, Sandbox)> = LazyLock::new(|| {
    let config = SandboxConfig { slots: 2, ready: 0, memory_ceiling: 16 << 20, ..SandboxConfig::default() };
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    (Mutex::new(runtime), Sandbox::new(config).unwrap())
});

/// Either a component with a hook, or an error of a kind that fits, in one line without control characters. Nothing
/// panics: a panic anywhere below ends the fuzzer even where the host would contain it.
pub(crate) fn check(input: &[u8]) {
    let (runtime, sandbox) = &*SANDBOX;
    let loaded = runtime.lock().unwrap().block_on(sandbox.load_bytes(input.to_vec(), None));
    match loaded {
        Ok(component) => {
            assert!(input.starts_with(b"\0asm\x0d\0\x01\0"), "no component has another header");
            let hooks = component.exported();
            assert!(hooks.grant || hooks.before_call || hooks.after_call);
            assert_eq!((component.digest(), component.size()), (digest(input).as_str(), input.len() as u64));
            component.imports().iter().for_each(|import| printable(&import.name));
        }
        Err(error) => {
            printable(&error.to_string());
            let mut cause = error.source();
            while let Some(error) = cause {
                printable(&error.to_string());
                cause = error.source();
            }
            fits(&error, input);
        }
    }
}

fn fits(error: &LoadError, input: &[u8]) {
    let text = std::str::from_utf8(input);
    match error {
        LoadError::Empty => assert!(input.is_empty()),
        LoadError::Html | LoadError::Text => assert!(text.is_ok()),
        LoadError::NotWasm => assert!(text.is_err() && !input.starts_with(b"\0asm")),
        LoadError::CoreModule => assert!(input.starts_with(b"\0asm\x01\0\0\0")),
        LoadError::Precompiled => assert!(input.starts_with(b"\x7fELF")),
        LoadError::UnknownFormat => assert!(input.starts_with(b"\0asm")),
        LoadError::Truncated { .. } => assert!(input.starts_with(b"\0asm") || b"\0asm".starts_with(input)),
        LoadError::Invalid(_)
        | LoadError::NoHook { .. }
        | LoadError::WrongVersion { .. }
        | LoadError::UnknownImport { .. }
        | LoadError::WrongShape { .. }
        | LoadError::TooDeep => assert!(input.starts_with(b"\0asm\x0d\0\x01\0")),
        other => panic!("{other} ({other:?}) of bytes in memory"),
    }
}

fn printable(text: &str) {
    let odd = |it: char| {
        it.is_control() || matches!(it, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(!text.is_empty() && !text.contains(odd), "{text:?}");
    assert!(text.chars().count() <= LONGEST_TEXT, "{} characters", text.chars().count());
}
