//! Nothing of its own: `cargo xtask fuzz` links the library that the build of libfuzzer-sys leaves behind.
#![deny(missing_docs)]
