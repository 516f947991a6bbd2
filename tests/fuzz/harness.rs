//! What libFuzzer calls, and nothing else: the target is named by the environment variable `CALLGATE_FUZZ_TARGET`.
//!
//! `cargo xtask fuzz` builds this program and runs it. The program's `main` is libFuzzer's.
#![no_main]
#![allow(
    unsafe_code,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stderr,
    reason = "libFuzzer is C++ and hands over pointers; a panic is how a failure is told"
)]

use std::ffi::c_int;
use std::{env, panic, process, slice};

use callgate_fuzz::{Inputs, Target, mutation};

static TARGET: std::sync::LazyLock<Target> = std::sync::LazyLock::new(|| {
    let name = env::var("CALLGATE_FUZZ_TARGET").expect("CALLGATE_FUZZ_TARGET names the target");
    Target::named(&name).expect("there is such a target")
});

unsafe extern "C" {
    /// Changes some bytes in place and returns the new length.
    fn LLVMFuzzerMutate(data: *mut u8, size: usize, most: usize) -> usize;
}

/// A panic ends the process where it happens, also on a thread whose panics somebody catches, so that libFuzzer writes down
/// the input.
#[unsafe(no_mangle)]
extern "C" fn LLVMFuzzerInitialize(_arguments: *mut c_int, _values: *mut *mut *mut u8) -> c_int {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        report(panic);
        process::abort();
    }));
    eprintln!("target: {}", TARGET.name);
    0
}

#[unsafe(no_mangle)]
extern "C" fn LLVMFuzzerTestOneInput(data: *const u8, size: usize) -> c_int {
    // SAFETY: libFuzzer hands over that many bytes, which stay as they are until this returns. They may be none.
    let input = if size == 0 { &[] } else { unsafe { slice::from_raw_parts(data, size) } };
    (TARGET.check)(input);
    0
}

#[unsafe(no_mangle)]
extern "C" fn LLVMFuzzerCustomMutator(data: *mut u8, size: usize, most: usize, seed: u32) -> usize {
    // SAFETY: the first `size` bytes are an input, and there is room for as many as the larger of the two.
    let buffer = unsafe { slice::from_raw_parts_mut(data, size.max(most)) };
    if TARGET.inputs == Inputs::Json
        && seed.is_multiple_of(2)
        && let Some(changed) =
            std::str::from_utf8(&buffer[..size]).ok().and_then(|text| mutation::change(text, seed / 2))
        && changed.len() <= most
    {
        buffer[..changed.len()].copy_from_slice(changed.as_bytes());
        return changed.len();
    }
    // SAFETY: the same bytes and the same room.
    unsafe { LLVMFuzzerMutate(data, size, most) }
}
