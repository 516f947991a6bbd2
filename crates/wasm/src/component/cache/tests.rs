#![allow(clippy::unwrap_used, reason = "helpers of tests say what they expect by failing")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::{Barrier, OnceLock};
use std::thread;
use std::time::{Duration, SystemTime};

use callgate_core::json::digest;
use proptest::prelude::*;
use tempfile::TempDir;
use wasmtime::Config;

use super::*;
use crate::engine::only_compiling;

/// A folder with one entry in it.
struct Kept {
    folder: TempDir,
    key: Key,
}

fn engine() -> &'static Engine {
    static ENGINE: OnceLock<Engine> = OnceLock::new();
    ENGINE.get_or_init(|| only_compiling().unwrap())
}

fn compiled(text: &str) -> (Key, Vec<u8>) {
    let bytes = wat::parse_str(text).unwrap();
    (Key::new(engine(), &digest(&bytes)), engine().precompile_component(&bytes).unwrap())
}

impl Kept {
    fn new() -> Self {
        static CODE: OnceLock<(Key, Vec<u8>)> = OnceLock::new();
        let (key, code) = CODE.get_or_init(|| compiled("(component (core module (func (export \"a\"))))"));
        let kept = Self { folder: TempDir::new().unwrap(), key: key.clone() };
        kept.cache().store(key, code);
        kept
    }

    fn cache(&self) -> Cache {
        Cache::open(self.folder.path()).unwrap()
    }

    fn entry(&self) -> PathBuf {
        self.folder.path().join(name(&self.key))
    }

    fn loads(&self) -> bool {
        self.cache().load(engine(), &self.key).is_some()
    }

    #[track_caller]
    fn assert_miss(&self) {
        assert!(!self.loads());
        assert!(self.entry().symlink_metadata().is_err(), "a bad entry is removed");
    }
}

#[test]
fn an_entry_is_used_and_stays() {
    let kept = Kept::new();
    assert!(kept.loads() && kept.loads());
    assert_eq!(kept.entry().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(kept.folder.path().join("secret").metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn an_entry_is_used_where_it_can_not_be_mapped() {
    let kept = Kept::new();
    let file = File::open(kept.entry()).unwrap();
    assert!(copied(&kept.cache().secret, engine(), &kept.key, file).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn an_entry_with_a_bit_flipped_is_a_miss(at in any::<prop::sample::Index>(), bit in 0..8_u8) {
        let kept = Kept::new();
        let mut bytes = fs::read(kept.entry()).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1_u8 << bit;
        fs::write(kept.entry(), bytes).unwrap();
        kept.assert_miss();
    }

    #[test]
    fn an_entry_that_is_cut_off_is_a_miss(at in any::<prop::sample::Index>()) {
        let kept = Kept::new();
        let bytes = fs::read(kept.entry()).unwrap();
        fs::write(kept.entry(), &bytes[..at.index(bytes.len())]).unwrap();
        kept.assert_miss();
    }
}

#[test]
fn an_entry_with_bytes_behind_it_is_a_miss() {
    let kept = Kept::new();
    let mut bytes = fs::read(kept.entry()).unwrap();
    bytes.push(0);
    fs::write(kept.entry(), bytes).unwrap();
    kept.assert_miss();
}

#[test]
fn an_entry_of_another_component_is_a_miss() {
    let kept = Kept::new();
    let (other, code) = compiled("(component)");
    kept.cache().store(&other, &code);
    fs::rename(kept.folder.path().join(name(&other)), kept.entry()).unwrap();
    kept.assert_miss();
}

#[test]
fn an_entry_of_other_settings_is_a_miss() {
    let kept = Kept::new();
    let other = Engine::new(Config::new().cranelift_nan_canonicalization(false)).unwrap();
    let key = Key::new(&other, kept.key.as_str().split('-').next().unwrap());
    assert!(kept.cache().load(&other, &key).is_none());
    fs::rename(kept.entry(), kept.folder.path().join(name(&key))).unwrap();
    assert!(kept.cache().load(&other, &key).is_none());
}

#[test]
fn what_the_engine_does_not_take_is_a_miss() {
    let kept = Kept::new();
    kept.cache().store(&kept.key, b"sealed, and no code");
    kept.assert_miss();
}

#[test]
fn an_entry_sealed_with_another_secret_is_a_miss() {
    let kept = Kept::new();
    fs::write(kept.folder.path().join("secret"), [7; Secret::LENGTH]).unwrap();
    kept.assert_miss();
}

#[test]
fn a_secret_that_others_could_read_or_that_was_cut_off_is_replaced() {
    let spoil: [fn(&Path); 3] = [
        |secret| fs::set_permissions(secret, Permissions::from_mode(0o640)).unwrap(),
        |secret| fs::write(secret, [7; Secret::LENGTH - 1]).unwrap(),
        |secret| {
            fs::rename(secret, secret.with_extension("moved")).unwrap();
            symlink(secret.with_extension("moved"), secret).unwrap();
        },
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let kept = Kept::new();
        let before = kept.cache().secret;
        spoil(&kept.folder.path().join("secret"));
        let after = kept.cache().secret;
        assert!(before != after && after == kept.cache().secret, "{number}");
        kept.assert_miss();
    }
}

#[test]
fn an_entry_that_is_no_file_of_ours_is_a_miss() {
    let kept = Kept::new();
    let elsewhere = kept.folder.path().join("elsewhere");
    fs::rename(kept.entry(), &elsewhere).unwrap();
    symlink(&elsewhere, kept.entry()).unwrap();
    kept.assert_miss();
    assert!(elsewhere.exists());

    let kept = Kept::new();
    fs::set_permissions(kept.entry(), Permissions::from_mode(0o660)).unwrap();
    kept.assert_miss();

    // Whoever opened it as a file would wait for a writer.
    let kept = Kept::new();
    fs::remove_file(kept.entry()).unwrap();
    let mode = rustix::fs::Mode::RUSR;
    rustix::fs::mknodat(rustix::fs::CWD, kept.entry(), rustix::fs::FileType::Fifo, mode, 0).unwrap();
    kept.assert_miss();

    let kept = Kept::new();
    fs::remove_file(kept.entry()).unwrap();
    fs::create_dir(kept.entry()).unwrap();
    assert!(!kept.loads());
    kept.cache().store(&kept.key, b"there is no room for it");
}

/// Foreign owners can only be made by those who may give files away.
#[test]
fn what_belongs_to_another_user_is_not_used() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let kept = Kept::new();
    std::os::unix::fs::chown(kept.entry(), Some(12_345), None).unwrap();
    kept.assert_miss();
    std::os::unix::fs::chown(kept.folder.path(), Some(12_345), None).unwrap();
    assert!(matches!(Cache::try_open(kept.folder.path()), Err(Unusable::Foreign)));
}

#[test]
fn a_folder_that_others_write_to_is_not_used() {
    for mode in [0o770, 0o707, 0o1777] {
        let folder = TempDir::new().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
        let unusable = Cache::try_open(folder.path()).unwrap_err();
        assert!(unusable.to_string().contains("chmod 700"), "{unusable}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing was written to it");
    }
}

#[test]
fn a_folder_that_can_not_be_one_is_not_used() {
    let folder = TempDir::new().unwrap();
    let link = folder.path().join("link");
    symlink(folder.path(), &link).unwrap();
    assert!(matches!(Cache::try_open(&link), Err(Unusable::NoFolder)));
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(matches!(Cache::try_open(&file), Err(Unusable::NoFolder)));
    assert!(matches!(Cache::try_open(&file.join("below")), Err(Unusable::Io(_))));
    assert!(Cache::open(&file).is_none());
}

#[test]
fn a_folder_is_made_for_its_owner_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a/b");
    assert!(Cache::open(&path).is_some());
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn all_who_start_at_once_use_one_secret() {
    for _ in 0..20 {
        let folder = TempDir::new().unwrap();
        let barrier = Barrier::new(8);
        let open = || {
            barrier.wait();
            Cache::try_open(folder.path()).unwrap().secret
        };
        let secrets: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(secrets.windows(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing half written stays");
    }
}

#[test]
fn what_was_not_used_for_the_longest_time_leaves_first() {
    let kept = Kept::new();
    let (other, code) = compiled("(component)");
    let (third, _) = compiled("(component (component))");
    let mut cache = kept.cache();
    cache.store(&other, &code);
    let age = |path: &Path, hours: u64| {
        let then = SystemTime::now() - Duration::from_secs(hours * 3_600);
        File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    };
    let path_of = |key: &Key| kept.folder.path().join(name(key));
    age(&kept.entry(), 5);
    age(&path_of(&other), 4);
    let abandoned = kept.folder.path().join("x.new");
    fs::write(&abandoned, "").unwrap();
    age(&abandoned, 3);
    fs::write(kept.folder.path().join("y.new"), "").unwrap();
    assert!(kept.loads(), "which makes it the one that was used last");
    cache.most = kept.entry().metadata().unwrap().len() + 1_000;
    cache.store(&third, b"");
    assert!(kept.entry().exists() && path_of(&third).exists() && !path_of(&other).exists());
    assert!(!abandoned.exists() && kept.folder.path().join("y.new").exists());
}
