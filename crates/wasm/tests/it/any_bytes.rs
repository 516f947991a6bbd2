//! Whatever is offered as a component, the answer is a component or a sentence (K15, K20).

use std::sync::OnceLock;

use callgate_wasm::LoadError;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::kit;
use crate::sandbox::sandbox;

const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
const MODULE: &[u8] = b"\0asm\x01\0\0\0";

/// Loads it on a thread of its own runtime. An error must be one of ours, fit to print, and say what to do.
fn load(bytes: Vec<u8>) -> Result<(), LoadError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let loaded = runtime.block_on(sandbox().load_bytes(bytes, None));
    if let Err(error) = &loaded {
        let message = error.to_string();
        assert!(!message.chars().any(char::is_control) && message.contains("; "), "{message}");
        assert!(
            !message.contains("gave up") && !matches!(error, LoadError::Interrupted),
            "a fault was caught: {message}"
        );
    }
    loaded.map(|_| ())
}

fn valid() -> &'static [Vec<u8>] {
    static VALID: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    VALID.get_or_init(|| {
        let core = format!("{} {} (i32.const 0))", kit::MEMORY, kit::AFTER_NOTIFY);
        vec![
            kit::proceeding(),
            kit::denying("no"),
            kit::component("after", &core),
            wat::parse_str("(component)").unwrap(),
        ]
    })
}

fn unsigned(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let byte = u8::try_from(number & 0x7f).unwrap();
        number >>= 7;
        bytes.push(if number > 0 { byte | 0x80 } else { byte });
        if number == 0 {
            return bytes;
        }
    }
}

fn section(number: u8, body: &[u8]) -> Vec<u8> {
    [&[number][..], &unsigned(body.len()), body].concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_end_in_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        prop_assert!(load([COMPONENT, &[0xff][..], &bytes].concat()).is_err());
        prop_assert!(load(bytes).is_err());
    }

    #[test]
    fn sections_of_any_bytes_end_in_an_error(
        sections in proptest::collection::vec((0..13_u8, proptest::collection::vec(any::<u8>(), 0..60)), 1..6),
    ) {
        let sections: Vec<_> = sections.iter().map(|(number, body)| section(*number, body)).collect();
        // What happens to be valid has no hook.
        prop_assert!(load([COMPONENT, &sections.concat()].concat()).is_err());
    }

    /// A component with a few bytes changed may still be one. It must not take the host with it.
    #[test]
    fn changed_bytes_are_survived(which in any::<Index>(), changes in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..4)) {
        let mut bytes = which.get(valid()).clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let _ = load(bytes);
    }

    #[test]
    fn a_component_that_was_cut_is_survived(which in any::<Index>(), from in any::<Index>(), to in any::<Index>()) {
        let bytes = which.get(valid());
        let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
        let _ = load([&bytes[..from.min(to)], &bytes[from.max(to)..]].concat());
        let _ = load(bytes[..from].to_vec());
    }

    #[test]
    fn components_that_were_spliced_are_survived(
        first in any::<Index>(), second in any::<Index>(), head in any::<Index>(), tail in any::<Index>(),
    ) {
        let (first, second) = (first.get(valid()), second.get(valid()));
        let _ = load([&first[..head.index(first.len())], &second[tail.index(second.len())..]].concat());
    }
}

#[test]
fn a_component_nested_very_deep_ends_in_an_error() {
    for depth in [100, 10_000, 200_000] {
        let mut bytes = COMPONENT.to_vec();
        // Built from the inside: each level is a section that holds the level below it. Sizes are written in five bytes, so
        // that they can be computed ahead.
        let level = |inner: usize| {
            let size = u32::try_from(inner).unwrap();
            let leb = [0, 7, 14, 21, 28]
                .map(|shift| u8::try_from(size >> shift & 0x7f).unwrap() | if shift < 28 { 0x80 } else { 0 });
            [&[4][..], &leb[..]].concat()
        };
        let each = 6 + COMPONENT.len();
        for remaining in (1..depth).rev() {
            bytes.extend(level(COMPONENT.len() + each * (remaining - 1)));
            bytes.extend(COMPONENT);
        }
        assert!(matches!(load(bytes), Err(LoadError::TooDeep)), "{depth}");
    }
}

#[test]
fn types_nested_very_deep_end_in_an_error() {
    let types: String = (1..5_000).map(|number| format!("(type $t{number} (list $t{}))", number - 1)).collect();
    let deep = wat::parse_str(format!("(component (type $t0 (list u8)) {types})")).unwrap();
    assert!(load(deep).is_err());
    // Each type is the one before it twice over.
    let types: String = (1..64).map(|number| format!("(type $t{number} (tuple $t{0} $t{0}))", number - 1)).collect();
    let wide = wat::parse_str(format!("(component (type $t0 (list u8)) {types})")).unwrap();
    assert!(load(wide).is_err());
}

#[test]
fn counts_that_the_bytes_do_not_bear_out_end_in_an_error() {
    let most = [0xff, 0xff, 0xff, 0xff, 0x0f];
    for number in 0..13 {
        assert!(load([COMPONENT, &section(number, &most)].concat()).is_err(), "{number}");
        let module = [MODULE, &section(number, &most)].concat();
        assert!(load([COMPONENT, &section(1, &module)].concat()).is_err(), "{number} of a core module");
    }
    // A function with as many locals as can be said.
    let code = [&[1][..], &section(0, &[&[1][..], &most, &[0x7f, 0x0b]].concat())[1..]].concat();
    let module = [MODULE, &section(1, &[1, 0x60, 0, 0]), &section(3, &[1, 0]), &section(10, &code)].concat();
    assert!(load([COMPONENT, &section(1, &module)].concat()).is_err());
}

#[test]
fn names_that_would_move_a_cursor_do_not_reach_a_message() {
    for name in ["\u{1b}[2Jx", "a\nb", "a\u{202e}b", "`", "a:b/c@1.0.0\r"] {
        // An import of a component under a name of raw bytes, and the same for a core module inside.
        let import = [&[1, 0][..], &unsigned(name.len()), name.as_bytes(), &[5, 0]].concat();
        let instance = section(7, &[1, 0x42, 0]);
        assert!(load([COMPONENT, &instance, &section(10, &import)].concat()).is_err(), "{name:?}");
        let import = [&[1][..], &unsigned(name.len()), name.as_bytes(), &[1, b'f', 9, 9]].concat();
        let module = [MODULE, &section(2, &import)].concat();
        assert!(load([COMPONENT, &section(1, &module)].concat()).is_err(), "{name:?}");
    }
}

#[test]
fn every_byte_string_that_is_no_component_is_told_apart() {
    assert!(matches!(load(Vec::new()), Err(LoadError::Empty)));
    assert!(matches!(load(b"<html>".to_vec()), Err(LoadError::Html)));
    assert!(matches!(load(b"(component)".to_vec()), Err(LoadError::Text)));
    assert!(matches!(load(MODULE.to_vec()), Err(LoadError::CoreModule)));
    assert!(matches!(load(COMPONENT.to_vec()), Err(LoadError::NoHook { .. })));
}
