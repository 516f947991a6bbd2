//! Folders of a guest: what it was granted, and not a step further.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use callgate_tests::process::{alone, threads};
use callgate_tests::waiting::PATIENCE;
use callgate_wasm::{FolderAccess, FolderGrant, SandboxLimits};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{attempt, outcomes, reach, ready};

/// `policy` with files, and beside it a secret that links point to.
fn laid_out() -> TempDir {
    let root = tempfile::tempdir().unwrap();
    let policy = root.path().join("policy");
    fs::create_dir_all(policy.join("inner")).unwrap();
    fs::write(policy.join("rules"), "allow").unwrap();
    fs::write(policy.join("inner/more"), "deeper").unwrap();
    fs::write(root.path().join("secret"), "secret").unwrap();
    fs::create_dir(root.path().join("policy-of-others")).unwrap();
    fs::write(root.path().join("policy-of-others/rules"), "secret").unwrap();
    symlink("../secret", policy.join("out")).unwrap();
    symlink(root.path().join("secret"), policy.join("far-out")).unwrap();
    symlink("..", policy.join("up")).unwrap();
    symlink("rules", policy.join("in")).unwrap();
    root
}

fn seeing(root: &TempDir, access: FolderAccess) -> FolderGrant {
    FolderGrant { path: root.path().join("policy"), guest: "/policy".into(), access }
}

fn act(act: &str, path: &str, to: &str) -> Value {
    json!({ "file": { "act": act, "folder": "/policy", "path": path, "to": to } })
}

/// Everything below a folder: contents, targets of links, and when it was changed.
fn everything(folder: &Path) -> BTreeMap<String, (String, SystemTime)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, metadata) = (entry.path(), entry.path().symlink_metadata().unwrap());
        let content = match metadata.file_type() {
            kind if kind.is_dir() => {
                found.extend(everything(&path));
                "folder".to_owned()
            }
            kind if kind.is_symlink() => fs::read_link(&path).unwrap().display().to_string(),
            _ => fs::read_to_string(&path).unwrap(),
        };
        found.insert(path.display().to_string(), (content, metadata.modified().unwrap()));
    }
    found
}

#[tokio::test]
async fn a_folder_that_is_granted_to_read_can_be_read() {
    let root = laid_out();
    let acts = json!([
        "folders",
        act("read", "rules", ""),
        act("read", "inner/more", ""),
        act("read", "in", ""),
        act("read", "inner/../rules", ""),
        act("list", "", ""),
        act("read-link", "in", ""),
    ]);
    let told = outcomes(reach().seeing(seeing(&root, FolderAccess::Read)), acts).await;
    assert_eq!(told[..5], [json!(["/policy"]), json!("allow"), json!("deeper"), json!("allow"), json!("allow")]);
    assert_eq!(told[5..], [json!("far-out in inner out rules up"), json!("rules")]);
}

#[tokio::test]
async fn a_folder_that_is_granted_to_read_can_not_be_changed() {
    let root = laid_out();
    let before = everything(root.path());
    let changes = [
        act("write", "rules", ""),
        act("create", "new", ""),
        act("create", "rules", ""),
        act("create-to-read", "new", ""),
        act("create-new", "new", ""),
        act("truncate", "rules", ""),
        act("truncate-without-flags", "rules", ""),
        act("write-through-reader", "rules", ""),
        act("stream-through-reader", "rules", ""),
        act("append-through-reader", "rules", ""),
        act("resize-through-reader", "rules", ""),
        act("times-through-reader", "rules", ""),
        act("times-through-reader", "inner", ""),
        act("times", "rules", ""),
        act("times-of-folder", "", ""),
        act("rename", "rules", "gone"),
        act("rename", "inner", "gone"),
        act("link", "rules", "twin"),
        act("symlink", "rules", "twin"),
        act("unlink", "rules", ""),
        act("unlink", "in", ""),
        act("make-folder", "new", ""),
        act("remove-folder", "inner", ""),
        act("create-in-folder", "inner", "new"),
        act("truncate", "inner/more", ""),
        act("rename", "inner/more", "more"),
        act("unlink", "inner/more", ""),
    ];
    let told = outcomes(reach().seeing(seeing(&root, FolderAccess::Read)), json!(changes)).await;
    for (change, outcome) in changes.iter().zip(&told) {
        assert_eq!(outcome["error"], "not-permitted", "{change}: {outcome}");
    }
    assert_eq!(everything(root.path()), before);
}

#[tokio::test]
async fn no_path_leads_out_of_a_folder() {
    let root = laid_out();
    let before = everything(root.path());
    let absolute = root.path().join("secret").display().to_string();
    let paths = [
        "../secret",
        "inner/../../secret",
        "./../secret",
        "out",
        "out/",
        "./out",
        "far-out",
        "far-out/",
        "up/secret",
        "up/policy-of-others/rules",
        "../policy-of-others/rules",
        "inner/../up/secret",
        "..",
        "../",
        "up",
        "up/",
        "up/.",
        "/",
        "//",
        "/etc/passwd",
        &absolute,
        "rules/../../secret",
        "..//secret",
        "inner/../..",
    ];
    for access in [FolderAccess::Read, FolderAccess::ReadWrite] {
        let tried = ["read", "truncate", "create", "unlink", "times", "make-folder", "remove-folder", "read-link"];
        let acts: Vec<_> = paths
            .iter()
            .flat_map(|path| tried.map(|name| act(name, path, "")))
            // What is in the folder itself may be taken out of it.
            .filter(|it| access == FolderAccess::Read || !may_be_changed(it))
            .collect();
        let told = outcomes(reach().seeing(seeing(&root, access)), json!(acts)).await;
        for (act, outcome) in acts.iter().zip(&told) {
            let link = act["file"]["act"] == "read-link" && outcome.is_string();
            assert!(link || outcome["error"].is_string(), "{act}: {outcome}");
            assert_ne!(outcome, &json!("secret"), "{act}");
        }
        let moved: Vec<_> = ["../gone", "up/gone", "/gone", "inner/../../gone", "..//gone"]
            .iter()
            .flat_map(|to| ["rename", "link"].map(|name| act(name, "rules", to)))
            .chain(
                ["../secret", "up/secret"]
                    .iter()
                    .flat_map(|from| ["rename", "link"].map(|name| act(name, from, "own"))),
            )
            .chain([act("symlink", "/etc/passwd", "own"), act("symlink", "rules", "../own")])
            .collect();
        let told = outcomes(reach().seeing(seeing(&root, access)), json!(moved)).await;
        for (act, outcome) in moved.iter().zip(&told) {
            assert!(outcome["error"].is_string(), "{act}: {outcome}");
        }
        assert_eq!(everything(root.path()), before, "{access:?}");
    }
}

/// Taking a link away, or giving it another time, changes the folder that it is in.
fn may_be_changed(act: &Value) -> bool {
    let (name, path) = (act["file"]["act"].as_str().unwrap(), act["file"]["path"].as_str().unwrap());
    name == "unlink" && ["out", "./out", "far-out", "up"].contains(&path)
}

#[tokio::test]
async fn a_folder_that_is_granted_to_write_can_be_changed() {
    let root = laid_out();
    let acts = json!([
        act("write", "rules", ""),
        act("create", "inner/new", ""),
        act("rename", "inner/new", "moved"),
        act("make-folder", "made", ""),
        act("unlink", "in", ""),
        act("read", "rules", ""),
    ]);
    let told = outcomes(reach().seeing(seeing(&root, FolderAccess::ReadWrite)), acts).await;
    assert!(told[..5].iter().all(|outcome| outcome == "done"), "{told:?}");
    assert_eq!(told[5], "newow");
    let policy = root.path().join("policy");
    assert_eq!(fs::read_to_string(policy.join("moved")).unwrap(), "new");
    assert!(policy.join("made").is_dir() && !policy.join("in").exists());
}

/// What takes the folder's place after it was checked is another folder.
#[tokio::test]
async fn the_folder_is_the_one_that_was_there_when_the_listener_was_made() {
    let root = laid_out();
    let listener = super::ready(reach().seeing(seeing(&root, FolderAccess::Read))).await;
    fs::rename(root.path().join("policy"), root.path().join("was")).unwrap();
    symlink("policy-of-others", root.path().join("policy")).unwrap();
    let told = super::attempt(&listener, json!([act("read", "rules", "")])).await.unwrap();
    assert_eq!(told, [json!("allow")]);
}

/// Each read of a pipe that nobody writes to keeps a thread. They are the listener's own: the threads that serve everybody's
/// state, and the gateway's input, are not in its reach.
#[cfg(target_os = "linux")]
#[test]
fn f2_a_pipe_in_a_folder_takes_no_threads_of_the_host() {
    alone("capabilities::folders::f2_a_pipe_in_a_folder_takes_no_threads_of_the_host", || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        // Fewer than the listener asks for.
        let runtime = runtime.enable_all().max_blocking_threads(20).build().unwrap();
        runtime.block_on(async {
            let root = laid_out();
            let made = Command::new("mkfifo").arg(root.path().join("policy/pipe")).status().unwrap();
            assert!(made.success());
            let short = |limits: &mut SandboxLimits| limits.decision_deadline = Duration::from_millis(50);
            let listener = ready(reach().seeing(seeing(&root, FolderAccess::Read)).limited(short)).await;
            let before = threads();
            for _ in 0..40 {
                attempt(&listener, json!([act("read", "pipe", "")])).await.unwrap_err();
            }
            assert!(threads() <= before + 20, "{before} threads and then {}", threads());
            let free = tokio::time::timeout(PATIENCE, tokio::task::spawn_blocking(|| ())).await;
            free.expect("the host has a thread left").unwrap();
        });
        // The threads that wait for the pipe end with the process and not before.
        runtime.shutdown_background();
    });
}
