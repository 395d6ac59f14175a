//! Credentials that clients send to a stream are in no log, right or wrong, whole or broken.

use foretell_tests::exchange::Options;
use foretell_tests::streams::{Connection, End};
use serde_json::json;

use super::Site;

#[tokio::test]
async fn credentials_are_in_no_log() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let log = directory.path().join("log");
    let options = Options {
        log: Some(log.clone()),
        ..Options::demo().with("FORETELL_LOG", "trace")
    };
    let site = Site::start(options).await;
    let auth = &site.auths[0];
    let secret = auth["secret"].as_str().expect("a secret");
    let phrase = auth["passphrase"].as_str().expect("a passphrase");

    let mut right = site.connect(&site.own(0)).await;
    right.until_type("heartbeat").await;
    // Broken messages of a connection in force, and of one that never was.
    let broken = [
        format!(r#"{{"type":"user","auth":{{"secret":"{secret}","passphrase":"{phrase}""#),
        format!(r#"{{"operation":"{secret}","auth":{auth}}}"#),
        format!(r#"["{secret}",{{"auth":"{phrase}"}}]"#),
    ];
    for text in &broken {
        right.send_frame(0x1, text.as_bytes()).await.expect("sent");
    }
    right.until_type("heartbeat").await;

    for wrong in ["apiKey", "secret", "passphrase"] {
        let mut own = site.own(0);
        own["auth"][wrong] = site.auths[1][wrong].clone();
        let mut connection = site.connect(&own).await;
        let end = connection.next().await.expect_err("no stream");
        assert_eq!(end, End::Close(4001, "unauthorized".to_owned()), "{wrong}");
    }
    let mut early = Connection::open(&site.exchange.trading, "user")
        .await
        .expect("an upgrade");
    early
        .send_frame(0x1, broken[0].as_bytes())
        .await
        .expect("sent");
    early
        .send(&json!({ "type": "market", "auth": auth }))
        .await
        .expect("sent");
    let others = [&site.auths[1]["secret"], &site.auths[1]["passphrase"]];
    let others: Vec<String> = others
        .iter()
        .filter_map(|text| text.as_str())
        .map(str::to_owned)
        .collect();
    assert!(site.exchange.stop().success());

    let text = std::fs::read_to_string(&log).expect("a log");
    assert!(text.len() > 1_000, "a log of {} bytes", text.len());
    for hidden in [secret.to_owned(), phrase.to_owned()].iter().chain(&others) {
        assert!(!text.contains(hidden.as_str()), "{hidden} is in the log");
    }
}
