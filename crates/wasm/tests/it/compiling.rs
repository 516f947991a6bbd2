//! Components that take too long to compile, and compilers that do not do their part.

use std::time::Duration;

use callgate_core::Verdict;
use callgate_wasm::{Compiler, CompilerCommand, LoadError, Loads, Sandbox, SandboxConfig, WasmListener};
use tempfile::TempDir;

use crate::kit;
use crate::sandbox::{before_call, options};

const SHORT: Duration = Duration::from_millis(200);

fn sandbox(compile_deadline: Duration, compiler: Compiler) -> Sandbox {
    Sandbox::new(SandboxConfig { slots: 2, compile_deadline, compiler, ..SandboxConfig::default() }).unwrap()
}

/// A compiler that is a line of shell.
fn shell(line: &str) -> Compiler {
    Compiler::Child(CompilerCommand {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), line.into()],
        memory: 1 << 20,
    })
}

async fn error_with(line: &str, deadline: Duration) -> LoadError {
    sandbox(deadline, shell(line)).load_bytes(kit::proceeding(), None).await.unwrap_err()
}

/// K20: small bytes, long compilation.
#[tokio::test]
async fn f2_a_compile_bomb_holds_up_nobody_but_itself() {
    let folder = TempDir::new().unwrap();
    let config = SandboxConfig { slots: 2, cache: Some(folder.path().into()), ..SandboxConfig::default() };
    let before = Sandbox::new(config.clone()).unwrap();
    before.load_bytes(kit::denying("kept"), None).await.unwrap();

    let sandbox = Sandbox::new(SandboxConfig { compile_deadline: SHORT, ..config }).unwrap();
    let kept = sandbox.load_bytes(kit::denying("kept"), None).await.unwrap();
    let listener = WasmListener::new(kept.clone(), options()).unwrap();
    let bomb = tokio::spawn({
        let sandbox = sandbox.clone();
        async move { sandbox.load_bytes(kit::compile_bomb(), None).await }
    });
    let mut served = 0;
    while !bomb.is_finished() {
        assert!(matches!(before_call(&listener).await, Ok(Verdict::Deny(_))));
        served += 1;
    }
    assert!(served > 0);
    let error = bomb.await.unwrap().unwrap_err();
    assert!(matches!(error, LoadError::CompileTooLong { .. }), "{error}");

    // Its thread still compiles. What needs no compiler loads, and what needs one is told.
    assert!(sandbox.load_bytes(kit::denying("kept"), None).await.is_ok());
    drop((listener, kept));
    assert!(sandbox.load_bytes(kit::denying("kept"), None).await.is_ok());
    assert_eq!(sandbox.loads(), Loads { compiled: 1, from_cache: 2 });
    let error = sandbox.load_bytes(kit::proceeding(), None).await.unwrap_err();
    assert!(matches!(error, LoadError::CompilerBusy { .. }), "{error}");
}

#[tokio::test]
async fn a_compiler_that_hangs_is_ended() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("pid");
    let line = format!("echo $$ > '{}'; exec /bin/sleep 1000", file.display());
    let error = error_with(&line, Duration::from_secs(1)).await;
    assert!(matches!(error, LoadError::CompileTooLong { .. }), "{error}");
    let pid = std::fs::read_to_string(file).unwrap();
    let process = std::path::Path::new("/proc").join(pid.trim());
    assert!(!process.exists(), "{pid}");
}

#[tokio::test]
async fn a_compiler_that_fails_is_an_error_of_the_load() {
    let patient = Duration::from_secs(60);
    let cases = [
        ("kill -9 $$", "signal: 9"),
        ("kill -6 $$", "signal: 6"),
        ("exit 3", "status: 3"),
        // What is no reply, and then the same without an end.
        ("/bin/cat > /dev/null; echo something else; exit 0", "without a result"),
        ("exec /bin/cat /dev/zero", "without a result"),
        // A reply that would be larger than the memory that it may take.
        ("printf 'callgate\\000\\000\\000\\000\\000\\000\\000\\001\\000'; exec /bin/cat /dev/zero", "without a result"),
        // One that ends early.
        ("printf 'callgate\\000\\100\\000\\000\\000\\000\\000\\000\\000code'", "without a result"),
    ];
    for (line, part) in cases {
        let error = error_with(line, patient).await;
        assert!(matches!(error, LoadError::CompilerDied { .. }), "{line}: {error}");
        assert!(error.to_string().contains(part), "{line}: {error}");
    }
    let missing = Compiler::Child(CompilerCommand { program: "/no/such".into(), arguments: Vec::new(), memory: 0 });
    let error = sandbox(patient, missing).load_bytes(kit::proceeding(), None).await.unwrap_err();
    assert!(matches!(error, LoadError::CompilerMissing(_)), "{error}");
}

#[tokio::test]
async fn code_of_another_version_or_component_is_not_taken() {
    let key = "x".repeat(129);
    let line = format!("printf 'callgate\\000\\203\\000\\000\\000\\000\\000\\000\\000{key}ab'");
    let error = error_with(&line, Duration::from_secs(60)).await;
    assert!(matches!(error, LoadError::CompilerDiffers), "{error}");
}

#[tokio::test]
async fn what_a_compiler_says_of_a_component_is_made_fit_to_print() {
    let line = "printf 'callgate\\001\\006\\000\\000\\000\\000\\000\\000\\000a\\033[2Jb'";
    let error = error_with(line, Duration::from_secs(60)).await;
    assert!(error.to_string().contains("(a [2Jb)"), "{error}");
}
