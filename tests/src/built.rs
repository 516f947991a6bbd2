//! What this workspace builds: guests, and the binary.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are one folder down").to_owned()
}

/// A component that is written in Rust: an example, or a fixture of the tests. The name is the file's, without `.wasm`.
pub fn guest(name: &str) -> PathBuf {
    component(&format!("wasm32-wasip2/release/{name}.wasm"))
}

/// A component in another language, `js` or `py`.
pub fn guest_in(language: &str, name: &str) -> PathBuf {
    component(&format!("{language}/{name}.wasm"))
}

fn component(relative: &str) -> PathBuf {
    let path = root().join("target/guests").join(relative);
    assert!(path.exists(), "{} is not there: `cargo xtask guests` builds it", path.display());
    path
}

/// The `callgate` binary of the same profile as this test. Cargo builds it for `cargo test --workspace`; a run of this
/// package alone takes the one that is there.
pub fn callgate() -> PathBuf {
    program("callgate")
}

/// Builds the binary for a benchmark: cargo builds it for no benchmark of another package, and one that is there may be older
/// than the rest.
pub fn build_callgate() {
    let Some(cargo) = std::env::var_os("CARGO") else { return };
    let mut build = Command::new(cargo);
    build.current_dir(root()).args(["build", "--quiet", "--locked", "--profile", "bench", "--package", "callgate"]);
    assert!(build.status().expect("cargo starts").success(), "the binary does not build");
}

/// The example of a host project that embeds callgate, built like the binary.
pub fn embedding() -> PathBuf {
    program("examples/embedding")
}

fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test is a file");
    let profile = test.ancestors().nth(2).expect("tests are built into a folder of their profile");
    let path = profile.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let hint = "`cargo build --package callgate --bins --examples` builds it";
    assert!(path.exists(), "{} is not there: {hint}", path.display());
    path
}
