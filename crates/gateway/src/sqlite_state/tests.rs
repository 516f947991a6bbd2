use std::task::{Context, Poll, Waker};

use callgate_core::state::{MAX_KEY, MAX_VALUE, MemoryState};
use tempfile::TempDir;

use super::*;

const GONE: Option<Duration> = Some(Duration::ZERO);
const LONG: Option<Duration> = Some(Duration::from_secs(3_600));

fn file() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("state.sqlite");
    (folder, path)
}

/// What every store does alike. The scope is new for each, so that they can be one after the other on one store.
async fn behaves_as_a_store(store: &dyn StateStore) {
    let some = |text: &str| Ok(Some(text.to_owned()));

    assert_eq!(store.get("values", "k").await, Ok(None));
    store.set("values", "k", "a", None).await.unwrap();
    store.set("values", "k", "b\0ü", LONG).await.unwrap();
    assert_eq!(store.get("values", "k").await, some("b\0ü"));
    assert_eq!(store.delete("values", "k").await, Ok(true));
    assert_eq!(store.delete("values", "k").await, Ok(false));

    store.set("scope a", "k", "a", None).await.unwrap();
    assert_eq!(store.get("scope b", "k").await, Ok(None), "scopes never meet");

    assert_eq!(store.put_if_absent("absent", "k", "first", None).await, Ok(None));
    assert_eq!(store.put_if_absent("absent", "k", "second", None).await, some("first"));
    assert_eq!(store.get("absent", "k").await, some("first"));

    let swap = async |expected, replacement| store.compare_and_swap("swap", "k", expected, replacement, None).await;
    assert_eq!(swap(Some("x"), Some("a")).await, Ok(false), "nothing is there");
    assert_eq!(swap(None, Some("a")).await, Ok(true));
    assert_eq!(swap(None, Some("b")).await, Ok(false), "something is there");
    assert_eq!(swap(Some("b"), None).await, Ok(false), "something else is there");
    assert_eq!(store.get("swap", "k").await, some("a"));
    assert_eq!(swap(Some("a"), None).await, Ok(true));
    assert_eq!(store.get("swap", "k").await, Ok(None));
    assert_eq!(swap(None, None).await, Ok(true));

    assert_eq!(store.increment("count", "k", 5, None).await, Ok(5));
    assert_eq!(store.increment("count", "k", -7, LONG).await, Ok(-2));
    assert_eq!(store.get("count", "k").await, some("-2"));
    store.set("count", "k", &i32::MAX.to_string(), None).await.unwrap();
    assert_eq!(store.increment("count", "k", 1, None).await, Err(StateError::NotANumber));
    store.set("count", "k", "many", None).await.unwrap();
    assert_eq!(store.increment("count", "k", 1, None).await, Err(StateError::NotANumber));
    assert_eq!(store.get("count", "k").await, some("many"), "a step that failed changed nothing");

    store.set("expiry", "k", "old", GONE).await.unwrap();
    assert_eq!(store.get("expiry", "k").await, Ok(None));
    assert_eq!(store.delete("expiry", "k").await, Ok(false));
    store.set("expiry", "k", "old", GONE).await.unwrap();
    assert_eq!(store.put_if_absent("expiry", "k", "new", GONE).await, Ok(None));
    assert_eq!(store.compare_and_swap("expiry", "k", Some("new"), Some("x"), None).await, Ok(false));
    assert_eq!(store.compare_and_swap("expiry", "k", None, Some("5"), GONE).await, Ok(true));
    assert_eq!(store.increment("expiry", "k", 1, LONG).await, Ok(1), "an expired number counts from 0");
    store.set("expiry", "k", "stays", None).await.unwrap();
    assert_eq!(store.get("expiry", "k").await, some("stays"), "a value without expiry stays");

    for (key, value) in [("a/2", "2"), ("a/1", "1"), ("a/3", "3"), ("a", "0"), ("b", "4")] {
        store.set("scan", key, value, LONG).await.unwrap();
    }
    store.set("scan", "a/0", "gone", GONE).await.unwrap();
    let pairs = |pairs: &[(&str, &str)]| Ok(pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect());
    assert_eq!(store.scan("scan", "a/", 9).await, pairs(&[("a/1", "1"), ("a/2", "2"), ("a/3", "3")]));
    assert_eq!(store.scan("scan", "a/", 2).await, pairs(&[("a/1", "1"), ("a/2", "2")]));
    assert_eq!(store.scan("scan", "c", 9).await, pairs(&[]));

    let longest = "k".repeat(MAX_KEY);
    store.set("bounds", &longest, &"v".repeat(MAX_VALUE), None).await.unwrap();
    let (long, large) = ("k".repeat(MAX_KEY + 1), "v".repeat(MAX_VALUE + 1));
    for (key, value) in [("", "v"), (&long, "v"), ("k", &large)] {
        assert_eq!(store.set("bounds", key, value, None).await, Err(StateError::OutOfBounds));
        assert_eq!(store.put_if_absent("bounds", key, value, None).await, Err(StateError::OutOfBounds));
        let swapped = store.compare_and_swap("bounds", key, None, Some(value), None).await;
        assert_eq!(swapped, Err(StateError::OutOfBounds));
    }
    assert_eq!(store.get("bounds", "").await, Err(StateError::OutOfBounds));
    assert_eq!(store.increment("bounds", &long, 1, None).await, Err(StateError::OutOfBounds));
    assert_eq!(store.delete("bounds", &long).await, Err(StateError::OutOfBounds));
}

#[tokio::test]
async fn f5_memory_and_file_behave_alike() {
    let (_folder, path) = file();
    behaves_as_a_store(&MemoryState::default()).await;
    behaves_as_a_store(&SqliteState::open(&path).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_hundred_increments_over_two_connections_are_a_hundred() {
    let (_folder, path) = file();
    let stores = [SqliteState::open(&path).unwrap(), SqliteState::open(&path).unwrap()];
    let tasks: Vec<_> = (0..100)
        .map(|turn| {
            let store = stores[turn % 2].clone();
            tokio::spawn(async move { store.increment("s", "k", 1, None).await.unwrap() })
        })
        .collect();
    let mut sums = Vec::new();
    for task in tasks {
        sums.push(task.await.unwrap());
    }
    sums.sort_unstable();
    assert_eq!(sums, (1..=100).collect::<Vec<_>>(), "no two saw the same number");
    assert_eq!(stores[0].get("s", "k").await, Ok(Some("100".into())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_fifty_claims_over_two_connections_one_wins() {
    let (_folder, path) = file();
    let stores = [SqliteState::open(&path).unwrap(), SqliteState::open(&path).unwrap()];
    let tasks: Vec<_> = (0..50)
        .map(|turn| {
            let store = stores[turn % 2].clone();
            tokio::spawn(async move { store.put_if_absent("s", "k", &turn.to_string(), None).await.unwrap() })
        })
        .collect();
    let mut winners = 0;
    for task in tasks {
        winners += usize::from(task.await.unwrap().is_none());
    }
    assert_eq!(winners, 1);
}

#[tokio::test]
async fn values_and_their_expiry_survive_a_new_start() {
    let (_folder, path) = file();
    let store = SqliteState::open(&path).unwrap();
    store.set("s", "kept", "v", LONG).await.unwrap();
    store.set("s", "expired", "v", GONE).await.unwrap();
    drop(store);

    let store = SqliteState::open(&path).unwrap();
    let values = store.values("s", "").await.unwrap();
    let [kept] = values.as_slice() else { panic!("{values:?}") };
    assert_eq!((kept.key.as_str(), kept.value.as_str()), ("kept", "v"));
    let left = kept.expires.unwrap().duration_since(SystemTime::now()).unwrap();
    assert!(left <= LONG.unwrap() && left > LONG.unwrap() / 2, "{left:?}");
}

#[tokio::test]
async fn an_operation_whose_future_is_dropped_still_completes() {
    let (_folder, path) = file();
    let store = SqliteState::open(&path).unwrap();
    let mut set = store.set("s", "k", "v", None);
    let begun = set.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(begun, Poll::Pending | Poll::Ready(Ok(()))));
    drop(set);
    // The next operation is behind it on the same connection, or in the race to it: it is there in the end.
    while store.get("s", "k").await != Ok(Some("v".into())) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn f2_a_scope_that_floods_the_store_is_in_its_own_way() {
    let (_folder, path) = file();
    let store = SqliteState::open(&path).unwrap();
    let ended = Mutex::new(Vec::new());
    let set = async |scope: &'static str, key: String| {
        store.set(scope, &key, &"v".repeat(100_000), None).await.unwrap();
        ended.lock().unwrap().push(scope);
    };
    let flood = (0..50).map(|key| set("flood", key.to_string()));
    tokio::join!(futures_util::future::join_all(flood), set("neighbour", "k".into()));
    let ended = ended.into_inner().unwrap();
    assert_eq!(ended.len(), 51);
    assert!(ended.iter().take(3).any(|scope| *scope == "neighbour"), "{ended:?}");
}

#[tokio::test]
async fn what_has_expired_leaves_the_file_with_later_writes() {
    let (_folder, path) = file();
    let store = SqliteState::open(&path).unwrap();
    for n in 0..20 {
        store.set("s", &format!("gone {n}"), "v", GONE).await.unwrap();
    }
    store.set("s", "kept", "v", None).await.unwrap();
    store.set("s", "kept", "w", None).await.unwrap();
    let rows = rusqlite::Connection::open(&path).unwrap();
    let rows: i64 = rows.query_row("select count(*) from entry", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 1);
}

#[cfg(unix)]
#[tokio::test]
async fn only_its_owner_can_read_the_file() {
    use std::os::unix::fs::PermissionsExt;

    let (folder, path) = file();
    let store = SqliteState::open(&path).unwrap();
    store.set("s", "k", "secret", None).await.unwrap();
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap).collect();
    assert!(files.len() > 1, "the side files are there too");
    for file in files {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{file:?}");
    }
}

#[test]
fn a_file_that_is_not_ours_is_refused_by_name() {
    let (folder, path) = file();
    std::fs::write(&path, "not a database, and long enough to be looked at as one").unwrap();
    let error = SqliteState::open(&path).unwrap_err().to_string();
    assert!(error.contains("state.sqlite") && error.contains("not a database"), "{error}");

    let newer = folder.path().join("newer.sqlite");
    rusqlite::Connection::open(&newer).unwrap().pragma_update(None, "user_version", 2).unwrap();
    let error = SqliteState::open(&newer).unwrap_err().to_string();
    assert!(error.ends_with("its layout is 2, and this version of callgate only knows 1"), "{error}");

    let error = SqliteState::open(&folder.path().join("no/such/state.sqlite")).unwrap_err().to_string();
    assert!(error.contains("no/such/state.sqlite"), "{error}");
}
