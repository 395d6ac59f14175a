//! The life of a sandbox: one line when it is ready, and no longer than its standard input.

use std::io::{BufReader, Read as _};
use std::process::Stdio;
use std::time::{Duration, Instant};

use foretell_tests::exchange::{Exchange, Options, foretell};
use foretell_tests::operator;
use foretell_tests::sandbox::Sandbox;
use foretell_tests::streams::{Connection, End};
use serde_json::json;

/// A sandbox ends within this after its standard input.
const END: Duration = Duration::from_secs(2);

#[tokio::test]
async fn a_sandbox_prints_one_line_and_ends_with_its_input() {
    let mut sandbox = Sandbox::start(&["--wallets", "3"]);
    assert_eq!(sandbox.ready["ready"], "sandbox");
    assert_eq!(sandbox.ready["chain"], 80_002);
    let wallets = sandbox.ready["wallets"].as_array().expect("wallets");
    assert_eq!(wallets.len(), 3);
    for wallet in wallets {
        let path = format!(
            "/accounts/{}",
            wallet["funder"].as_str().expect("an address")
        );
        let (_, account) = sandbox.get(&path).await;
        assert_eq!(account["free"], "10000", "{account}");
    }
    let directory = sandbox.directory();
    assert!(directory.join("journal").is_dir());

    let began = Instant::now();
    let (status, rest) = sandbox.end();
    assert!(began.elapsed() < END, "{:?}", began.elapsed());
    assert!(status.success(), "{status}");
    assert_eq!(rest, "");
    assert!(!directory.exists());
}

#[tokio::test]
async fn a_line_keeps_the_data_directory() {
    let mut sandbox = Sandbox::start(&[]);
    sandbox.market(json!({})).await;
    sandbox.write("keep");
    let directory = sandbox.directory();
    assert!(sandbox.end().0.success());

    let report = foretell_audit::verify(&directory.join("journal"), &Default::default());
    let report = report.expect("a journal");
    assert!(report.sound && report.sandbox, "{report}");
    assert!(report.to_string().contains("sandbox: "), "{report}");
    std::fs::remove_dir_all(directory).expect("it can be removed");
}

#[tokio::test]
async fn a_reset_begins_again_at_the_same_addresses() {
    let mut sandbox = Sandbox::start(&["--wallets", "1"]);
    let (condition, [yes, _]) = sandbox.market(json!({})).await;
    let hour = json!({ "advance_ms": 3_600_000 });
    sandbox.done("/sandbox/clock", hour).await;
    let (before, directory) = (sandbox.ready.clone(), sandbox.directory());
    let subscription = json!({ "type": "market", "assets_ids": [yes] });
    let mut stream = Connection::subscribe(sandbox.url("trading"), "market", &subscription).await;

    sandbox.reset();
    let end = loop {
        if let Err(end) = stream.next().await {
            break end;
        }
    };
    assert!(matches!(end, End::Close(4003, _)), "{end:?}");
    for field in [
        "trading", "data", "catalog", "operator", "token", "chain", "pid",
    ] {
        assert_eq!(sandbox.ready[field], before[field], "{field}");
    }
    assert_ne!(sandbox.ready["wallets"], before["wallets"]);
    assert!(!directory.exists());
    assert_eq!(sandbox.get(&format!("/markets/{condition}")).await.0, 404);
    assert!(sandbox.ahead_ms().await < 60_000);
    sandbox.market(json!({})).await;
    assert!(sandbox.end().0.success());
}

#[test]
fn a_directory_of_the_caller_is_not_reset() {
    let data = tempfile::tempdir().expect("a directory");
    let directory = data.path().join("sandbox");
    let path = directory.to_str().expect("a path");
    let mut sandbox = Sandbox::start(&["--data", path]);
    sandbox.write("reset");
    let (status, rest) = sandbox.end();
    assert!(status.success(), "{status}");
    assert_eq!(rest, "", "no second ready line");
    assert!(directory.join("journal").is_dir());
}

/// Only what the caller passes: a file in the working directory and variables are those of another exchange.
#[tokio::test]
async fn a_sandbox_reads_no_setting_but_its_caller_s() {
    let other = [
        ("FORETELL_SIGNING_CHAIN", "31337"),
        ("FORETELL_COMPATIBILITY", "interface"),
        ("FORETELL_UNKNOWN", "1"),
    ];
    let sandbox = Sandbox::start_in(&other, &["--set", "signing.chain=137"]);
    assert_eq!(sandbox.ready["chain"], 137);
    let site = reqwest::get(format!("{}/ui/api/site", sandbox.url("trading")));
    let site: serde_json::Value = site.await.expect("an answer").json().await.expect("JSON");
    assert_eq!(site["chain_id"], 137, "{site}");
    assert_eq!(site["sandbox"], true, "{site}");
}

#[test]
fn a_setting_that_is_none_is_refused() {
    for (given, named) in [
        ("signing.chains=1", "signing.chains"),
        ("signing.chain", "SETTING=VALUE"),
        ("signing.chain=many", "signing.chain"),
    ] {
        let refused = foretell()
            .args(["up", "--sandbox", "--set", given])
            .output()
            .expect("it runs");
        let text = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success(), "{given}");
        assert!(text.contains(named), "{given}: {text}");
    }
}

#[tokio::test]
async fn an_exchange_that_is_no_sandbox_refuses_and_does_not_become_one() {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    let exchange = Exchange::start_at(&Options::default(), &data);
    for (path, body) in [
        ("/sandbox/wallets", json!({})),
        ("/sandbox/clock", json!({ "advance_ms": 1 })),
        (
            "/sandbox/orders",
            json!({
                "wallet": "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266", "token_id": "1",
                "side": "BUY", "price": "0.5", "size": "10",
            }),
        ),
    ] {
        let (status, refused) = operator::post(&exchange, path, &body).await;
        assert_eq!(
            (status, &refused["code"]),
            (409, &json!("not_sandbox")),
            "{path}"
        );
    }
    let (status, _) = operator::get(&exchange, "/sandbox/clock").await;
    assert_eq!(status, 409);
    assert!(exchange.stop().success());

    let mut again = foretell()
        .args(["up", "--sandbox", "--data"])
        .arg(&data)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // Open until it ends.
    let _input = again.stdin.take();
    let mut text = String::new();
    let errors = again.stderr.take().expect("a pipe");
    BufReader::new(errors)
        .read_to_string(&mut text)
        .expect("its errors");
    assert!(!again.wait().expect("its end").success());
    assert!(text.contains("is not a sandbox"), "{text}");
}
