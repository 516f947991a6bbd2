//! Components are compiled by processes of the program itself, and their code is kept for the next start.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use callgate_wasm::{Compiler, CompilerCommand, LoadError, Sandbox, SandboxConfig};
use tempfile::TempDir;

use crate::rig::{PROGRAM, Rig, listener};

/// A sandbox whose components are compiled by the program under a name of its own, which tells its processes from others.
fn sandbox(folder: &Path, compile_deadline: Duration, memory: u64) -> (Sandbox, PathBuf) {
    let program = folder.join("compiling-callgate");
    std::os::unix::fs::symlink(PROGRAM, &program).unwrap();
    let arguments = vec!["compile-component".into()];
    let compiler = Compiler::Child(CompilerCommand { program: program.clone(), arguments, memory });
    let config = SandboxConfig { slots: 1, compile_deadline, compiler, ..SandboxConfig::default() };
    (Sandbox::new(config).unwrap(), program)
}

/// The processes that were started under that name and have not ended.
fn processes(program: &Path) -> Vec<PathBuf> {
    let ours = |process: &PathBuf| {
        let line = fs::read(process.join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).next() == Some(program.as_os_str().as_encoded_bytes())
    };
    fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).filter(ours).collect()
}

fn many_functions() -> Vec<u8> {
    let functions = "(func (param i32) (result i32) (i32.add (local.get 0) (i32.const 1)))".repeat(50_000);
    wat::parse_str(format!("(component (core module {functions}))")).unwrap()
}

fn many_locals() -> Vec<u8> {
    let mut body = String::new();
    for number in 0..20_000 {
        let other = (number * 7_919) % 20_000;
        write!(body, "(local.set {number} (i32.add (local.get {number}) (local.get {other})))").unwrap();
    }
    let locals = "i32 ".repeat(20_000);
    wat::parse_str(format!("(component (core module (func (local {locals}) (loop {body} (br 0)))))")).unwrap()
}

/// K20: small bytes, long compilation.
#[tokio::test]
async fn f2_a_compile_bomb_is_ended_with_its_process() {
    for bomb in [many_functions(), many_locals()] {
        let folder = TempDir::new().unwrap();
        let (sandbox, program) = sandbox(folder.path(), Duration::from_millis(300), 2 << 30);
        let mut load = Box::pin(sandbox.load_bytes(bomb, None));
        // It runs, while this thread does something else.
        let mut seen = Vec::new();
        let error = loop {
            tokio::select! {
                biased;
                loaded = &mut load => break loaded.unwrap_err(),
                () = tokio::task::yield_now() => seen.extend(processes(&program)),
            }
        };
        assert!(matches!(error, LoadError::CompileTooLong { .. }), "{error}");
        assert!(!seen.is_empty(), "no process was seen");
        assert_eq!(processes(&program), Vec::<PathBuf>::new(), "it was ended");
    }
}

#[tokio::test]
async fn f2_a_compile_bomb_takes_no_more_memory_than_it_may() {
    let folder = TempDir::new().unwrap();
    let (sandbox, program) = sandbox(folder.path(), Duration::from_secs(300), 64 << 20);
    let error = sandbox.load_bytes(many_functions(), None).await.unwrap_err();
    assert!(matches!(error, LoadError::CompilerDied { .. }), "{error}");
    assert!(error.to_string().contains("64 MiB of memory"), "{error}");
    assert_eq!(processes(&program), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn what_does_not_compile_says_why_through_the_process() {
    let folder = TempDir::new().unwrap();
    let (sandbox, _) = sandbox(folder.path(), Duration::from_secs(300), 2 << 30);
    let wide = wat::parse_str("(component (core module (memory i64 1)))").unwrap();
    let error = sandbox.load_bytes(wide, None).await.unwrap_err();
    assert!(matches!(&error, LoadError::Invalid(reason) if reason.contains("memory64")), "{error}");
}

/// A cut-off pipe, or a person who tries the command out.
#[test]
fn the_compiling_command_explains_itself_to_a_person() {
    let complaint = Rig::new("").run(&["compile-component"]).refused();
    assert!(complaint.contains("this command is for callgate itself"), "{complaint}");
}

#[test]
fn compiled_code_is_kept_where_the_file_says_or_nowhere() {
    let gate = listener("gate", "agent_mode", "");
    let kept = |folder: &Path| fs::read_dir(folder).map_or(0, |files| files.count());
    let rig = Rig::new(&format!("listeners = ['gate']\n[sandbox]\ncache = 'compiled'\n{gate}"));
    for _ in 0..2 {
        rig.run(&["check"]).said();
        assert_eq!(kept(&rig.path("compiled")), 2, "the secret and one entry");
    }
    let rig = Rig::new(&format!("listeners = ['gate']\n[sandbox]\ncache = false\n{gate}"));
    rig.run(&["check"]).said();
    assert_eq!(kept(&rig.path("")), 1, "the configuration");
}
