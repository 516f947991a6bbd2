use tempfile::TempDir;

use super::*;

const GATE: &str = "approval-gate";

fn record(state: &str, expires: SystemTime) -> String {
    let expires = expires.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    format!(
        r#"{{"taken-by":"","state":"{state}","tool":"write","subject":"ada","arguments-digest":"d","arguments":"{{}}","expires-ms":{expires},"big":12345678901234567}}"#
    )
}

fn soon() -> SystemTime {
    SystemTime::now() + Duration::from_secs(600)
}

async fn store(records: &[(&str, &str, &str)]) -> (TempDir, SqliteState) {
    let folder = TempDir::new().unwrap();
    let store = SqliteState::open(&folder.path().join("state.sqlite")).unwrap();
    for (listener, ticket, record) in records {
        store.set(listener, &format!("{PREFIX}{ticket}"), record, None).await.unwrap();
    }
    (folder, store)
}

#[tokio::test]
async fn an_approval_changes_the_state_and_nothing_else() {
    let (_folder, store) = store(&[(GATE, "a1", &record("pending", soon()))]).await;
    let ticket = approve(&store, &[GATE, "other"], "a1").await.unwrap();
    assert_eq!((ticket.request.tool.as_str(), ticket.request.subject.as_str()), ("write", "ada"));

    let [stored] = &store.values(GATE, PREFIX).await.unwrap()[..] else { panic!("one record") };
    let value: Value = serde_json::from_str(&stored.value).unwrap();
    let mut expected: Value = serde_json::from_str(&ticket.text).unwrap();
    expected["state"] = "approved".into();
    assert_eq!(value, expected);
    let left = stored.expires.unwrap().duration_since(SystemTime::now()).unwrap();
    assert!(left <= Duration::from_secs(600) && left > Duration::from_secs(60), "kept as long as it is good: {left:?}");
}

#[tokio::test]
async fn a_ticket_that_can_not_be_approved_says_why() {
    let (_folder, store) = store(&[
        (GATE, "approved", &record("approved", soon())),
        (GATE, "taken", &record("taken", soon())),
        (GATE, "late", &record("pending", SystemTime::UNIX_EPOCH)),
        (GATE, "two", &record("pending", soon())),
        ("other-gate", "two", &record("pending", soon())),
    ])
    .await;
    let both = [GATE, "other-gate"];
    for (ticket, reason) in [
        ("none", "there is no ticket none: it has expired, was used up, or is kept in another state store"),
        ("approved", "ticket approved of listener 'approval-gate' does not wait for an approval: it is approved"),
        ("taken", "ticket taken of listener 'approval-gate' does not wait for an approval: it is taken"),
        ("late", "ticket late has expired: repeat the call to ask again"),
        ("two", "several listeners have a ticket two: choose one of approval-gate, other-gate with --listener"),
    ] {
        assert_eq!(approve(&store, &both, ticket).await.unwrap_err().to_string(), reason);
    }
    assert_eq!(approve(&store, &["other-gate"], "two").await.unwrap().listener, "other-gate");
}

#[tokio::test]
async fn of_two_operators_at_once_one_approves() {
    let (_folder, store) = store(&[(GATE, "a1", &record("pending", soon()))]).await;
    let (first, second) = tokio::join!(approve(&store, &[GATE], "a1"), approve(&store, &[GATE], "a1"));
    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
}

#[tokio::test]
async fn only_what_waits_is_pending() {
    let (_folder, store) = store(&[
        (GATE, "a", &record("pending", soon())),
        (GATE, "b", &record("approved", soon())),
        (GATE, "c", &record("pending", SystemTime::UNIX_EPOCH)),
    ])
    .await;
    let pending: Vec<_> = tickets(&store, &[GATE]).await.unwrap().iter().map(Ticket::is_pending).collect();
    assert_eq!(pending, [true, false, false]);
}

#[tokio::test]
async fn a_record_that_is_none_is_named() {
    let (_folder, store) = store(&[(GATE, "a", "[]")]).await;
    let error = tickets(&store, &[GATE]).await.unwrap_err().to_string();
    assert!(error.starts_with("approval/a of listener 'approval-gate' is no record of a request"), "{error}");
}
