use callgate_tests::wire::{Revision, Wire};
use serde_json::{Value, json};

use super::{Peer, everything, filesystem, python};

/// Sends the same requests to the server directly and through the gateway, and compares the responses byte for byte.
async fn the_same_bytes(peer: &Peer, revision: Revision, more: &[&str]) {
    let gateway = peer.governed();
    let (mut direct, mut through) = (Wire::start(&peer.server), gateway.start());
    let greetings = [direct.begin(revision).await, through.begin(revision).await];
    let [mut directly, governed] = greetings.map(|line| serde_json::from_str::<Value>(&line).unwrap());
    let capabilities = directly["result"]["capabilities"].as_object_mut().unwrap();
    capabilities.remove("tasks");
    assert_eq!(governed, directly);

    let calls = (100..)
        .zip(&peer.calls)
        .map(|(id, step)| revision.call(id, step["call"].as_str().unwrap(), &step["arguments"]));
    // Spelled as no library would, with a member that nobody knows.
    let odd = calls.clone().map(|line| line.replacen("\"params\":{", "\"params\" :{ \"x-future\" : 1.0e2 ,", 1));
    let others = more.iter().zip(200..).map(|(method, id)| revision.request(id, method, json!({})));
    for request in calls.clone().chain(odd).chain(others) {
        assert_eq!(through.ask(&request).await, direct.ask(&request).await, "{request}");
    }

    let listing = revision.list(300);
    let directly = direct.answer(&listing).await;
    let governed = through.ask(&listing).await;
    let mut expected = directly.clone();
    expected["result"] = peer.without_hidden(&directly["result"]);
    if revision == Revision::July2026 {
        let result = &serde_json::from_str::<Value>(&governed).unwrap()["result"];
        assert_eq!(result["cacheScope"], "private");
        expected["result"]["cacheScope"] = "private".into();
        expected["result"]["ttlMs"] = result["ttlMs"].clone();
    }
    assert_eq!(serde_json::from_str::<Value>(&governed).unwrap(), expected);
    for hidden in peer.hidden {
        let refused = through.answer(&revision.call(400, hidden, &json!({}))).await;
        assert_eq!(refused["error"]["message"], format!("Error: Unknown tool '{hidden}'."));
    }
    through.close().await;
}

#[tokio::test]
async fn w2_g11_everything_is_passed_byte_for_byte() {
    let more = ["ping", "prompts/list", "resources/templates/list", "no/such/method"];
    for revision in [Revision::June2025, Revision::November2025] {
        the_same_bytes(&everything(), revision, &more).await;
    }
}

#[tokio::test]
async fn w2_filesystem_is_passed_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    the_same_bytes(&filesystem(&folder), Revision::November2025, &["ping", "prompts/list"]).await;
}

#[tokio::test]
async fn w2_g11_a_python_server_is_passed_byte_for_byte_in_all_revisions() {
    for revision in Revision::ALL {
        the_same_bytes(&python(), revision, &["prompts/list", "no/such/method"]).await;
    }
}
