//! What was compiled once is not compiled again, and nothing that lies in the cache's folder keeps a component from loading.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use callgate_core::Verdict;
use callgate_wasm::{Loads, Sandbox, SandboxConfig, WasmListener};
use tempfile::TempDir;

use crate::kit;
use crate::sandbox::{before_call, options};

/// A sandbox as after a start of the process.
fn started(cache: &Path) -> Sandbox {
    Sandbox::new(SandboxConfig { slots: 2, cache: Some(cache.into()), ..SandboxConfig::default() }).unwrap()
}

/// Loads a component that must answer, and says how it came to be ready.
async fn load(sandbox: &Sandbox) -> Loads {
    let component = sandbox.load_bytes(kit::denying("kept"), None).await.unwrap();
    let listener = WasmListener::new(component, options()).unwrap();
    assert!(matches!(before_call(&listener).await, Ok(Verdict::Deny(_))));
    sandbox.loads()
}

const COMPILED: Loads = Loads { compiled: 1, from_cache: 0 };
const FROM_CACHE: Loads = Loads { compiled: 0, from_cache: 1 };

fn entry(folder: &Path) -> PathBuf {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let entries: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "code")).collect();
    assert_eq!(entries.len(), 1);
    entries[0].clone()
}

#[tokio::test]
async fn the_second_start_compiles_nothing() {
    let folder = TempDir::new().unwrap();
    assert_eq!(load(&started(folder.path())).await, COMPILED);
    assert_eq!(load(&started(folder.path())).await, FROM_CACHE);
    let sandbox = started(folder.path());
    sandbox.load_bytes(kit::proceeding(), None).await.unwrap();
    assert_eq!(sandbox.loads(), COMPILED, "another component");
}

#[tokio::test]
async fn a_component_that_is_in_use_is_not_even_looked_up() {
    let folder = TempDir::new().unwrap();
    let sandbox = started(folder.path());
    let _in_use = sandbox.load_bytes(kit::denying("kept"), None).await.unwrap();
    assert_eq!(load(&sandbox).await, COMPILED);
}

#[tokio::test]
async fn a_bad_entry_is_compiled_again_and_mended() {
    let spoil: [fn(&Path); 5] = [
        |entry| fs::write(entry, "").unwrap(),
        |entry| fs::write(entry, "no code").unwrap(),
        |entry| fs::write(entry, &fs::read(entry).unwrap()[..5_000]).unwrap(),
        |entry| {
            let mut bytes = fs::read(entry).unwrap();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            fs::write(entry, bytes).unwrap();
        },
        |entry| fs::set_permissions(entry, Permissions::from_mode(0o666)).unwrap(),
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let folder = TempDir::new().unwrap();
        load(&started(folder.path())).await;
        spoil(&entry(folder.path()));
        assert_eq!(load(&started(folder.path())).await, COMPILED, "{number}");
        assert_eq!(load(&started(folder.path())).await, FROM_CACHE, "{number}");
    }
}

#[tokio::test]
async fn an_entry_that_is_replaced_while_it_runs_stays_what_it_was() {
    let folder = TempDir::new().unwrap();
    load(&started(folder.path())).await;
    let sandbox = started(folder.path());
    let listener = WasmListener::new(sandbox.load_bytes(kit::denying("kept"), None).await.unwrap(), options()).unwrap();
    assert_eq!(sandbox.loads(), FROM_CACHE);
    fs::remove_file(entry(folder.path())).unwrap();
    load(&started(folder.path())).await;
    fs::write(entry(folder.path()), "").unwrap();
    assert!(matches!(before_call(&listener).await, Ok(Verdict::Deny(_))));
}

#[tokio::test]
async fn without_a_folder_to_trust_components_load_all_the_same() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let open = folder.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
    for cache in [folder.path().join("file"), folder.path().join("file/below"), open.clone()] {
        for _ in 0..2 {
            assert_eq!(load(&started(&cache)).await, COMPILED, "{}", cache.display());
        }
    }
    assert_eq!(fs::read_dir(open).unwrap().count(), 0);
}

#[tokio::test]
async fn several_starts_at_once_share_a_folder() {
    let folder = TempDir::new().unwrap();
    let sandboxes = [started(folder.path()), started(folder.path()), started(folder.path())];
    let loads = futures_util::future::join_all(sandboxes.iter().map(load)).await;
    assert!(loads.iter().all(|loads| loads.compiled + loads.from_cache == 1), "{loads:?}");
    assert_eq!(load(&started(folder.path())).await, FROM_CACHE);
}

#[tokio::test]
async fn several_loads_at_once_compile_once() {
    let folder = TempDir::new().unwrap();
    let sandbox = started(folder.path());
    let loads = (0..4).map(|_| sandbox.load_bytes(kit::denying("kept"), None));
    let components = futures_util::future::join_all(loads).await;
    let first = components[0].as_ref().unwrap();
    assert!(components.iter().all(|it| std::sync::Arc::ptr_eq(first, it.as_ref().unwrap())));
    assert_eq!(sandbox.loads(), COMPILED);
}
