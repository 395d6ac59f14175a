//! An operator's change of a wallet's profile appears on every endpoint with profile fields, soon
//! and without a restart.

use std::time::{Duration, Instant};

use foretell_ops::demo::wallets::VISITORS;
use foretell_tests::demo::{market, send};
use foretell_tests::exchange::{Exchange, Options};
use foretell_wire::data::pseudonym;
use reqwest::Client;
use serde_json::{Value, json};

use crate::end_to_end::data_surface::{get, mint, runtime};

/// Timeout, far above the delay until a gateway sees a change.
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs `foretell profile …` on an exchange's data; returns success and output.
fn profile(exchange: &Exchange, arguments: &[&str]) -> (bool, String) {
    let arguments = [&["--json", "profile"], arguments].concat();
    let output = exchange.foretell(&arguments).output();
    let output = output.expect("the program starts");
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8(said).expect("UTF-8"),
    )
}

fn shown(exchange: &Exchange, arguments: &[&str]) -> Value {
    let (is_fine, said) = profile(exchange, arguments);
    assert!(is_fine, "{said}");
    serde_json::from_str(&said).expect("JSON")
}

#[test]
fn a_wallet_is_called_what_operators_say() {
    let root = tempfile::tempdir().expect("a directory");
    let data = root.path().join("data");
    let exchange = Exchange::start_at(&Options::demo(), &data);
    runtime().block_on(async {
        let market = market();
        mint(&exchange, &market).await;
        let wallet = VISITORS[1].address;
        let paths = [
            "/trades?limit=1".to_owned(),
            format!("/activity?user={wallet}"),
            format!("/holders?market={}", market.condition_id()),
        ];
        let address = foretell_wire::text::ids::address(wallet).expect("an address");
        let made_up = pseudonym(&address);
        said(&exchange, &paths, ["", &made_up, "", "", ""]).await;

        let image = "https://example.org/a.png";
        let set = ["set", wallet, "--name", "Ann \"A\"", "--bio", "rain"];
        let told = shown(&exchange, &[&set[..], &["--image", image]].concat());
        assert_eq!(told, shown(&exchange, &["show", wallet]));
        assert_eq!(told["pseudonym"], *made_up);
        said(
            &exchange,
            &paths,
            ["Ann \"A\"", &made_up, "rain", image, ""],
        )
        .await;

        // Hidden, with a pseudonym of its own; the rest stays.
        let more = ["set", wallet, "--public", "false", "--pseudonym", "Owl"];
        let more = [&more[..], &["--image-optimized", image]].concat();
        shown(&exchange, &more);
        said(&exchange, &paths, ["", "Owl", "rain", image, image]).await;
    });
    assert!(exchange.stop().success());

    // Another catalog is made from the journal.
    for file in ["catalog.db", "catalog.db-wal", "catalog.db-shm"] {
        let _ = std::fs::remove_file(data.join(file));
    }
    let exchange = Exchange::start_at(&Options::demo(), &data);
    let began = Instant::now();
    let wallet = VISITORS[1].address;
    while shown(&exchange, &["show", wallet])["bio"] != "rain" {
        assert!(began.elapsed() < PATIENCE, "no profile in the new catalog");
    }
    let shown = shown(&exchange, &["show", wallet]);
    assert_eq!(
        (&shown["name"], &shown["pseudonym"]),
        (&json!("Ann \"A\""), &json!("Owl"))
    );
    assert_eq!(shown["displayUsernamePublic"], false);
    assert!(exchange.stop().success());
}

/// Waits until the wallet's rows have these `name, pseudonym, bio, profileImage,
/// profileImageOptimized`.
async fn said(exchange: &Exchange, paths: &[String], wanted: [&str; 5]) {
    let wallet = VISITORS[1].address.to_lowercase();
    for path in paths {
        let began = Instant::now();
        loop {
            let (status, answer) = send(get(exchange, path)).await;
            assert_eq!(status, 200, "{answer}");
            let row = find(&answer, &wallet).unwrap_or_else(|| panic!("{path}: {answer}"));
            let fields = [
                "name",
                "pseudonym",
                "bio",
                "profileImage",
                "profileImageOptimized",
            ];
            let fields = fields.map(|field| row[field].clone());
            if fields == wanted.map(|text| json!(text)) {
                let is_public = row.get("displayUsernamePublic");
                let named = !wanted[0].is_empty();
                assert!(is_public.is_none_or(|public| *public == named), "{row}");
                break;
            }
            assert!(began.elapsed() < PATIENCE, "{path}: {fields:?}");
        }
    }
}

/// The first row of a wallet, at any depth.
fn find<'a>(answer: &'a Value, wallet: &str) -> Option<&'a Value> {
    match answer {
        Value::Array(rows) => rows.iter().find_map(|row| find(row, wallet)),
        Value::Object(row) if answer["proxyWallet"] == wallet => {
            Some(answer).filter(|_| !row.is_empty())
        }
        Value::Object(row) => row.values().find_map(|value| find(value, wallet)),
        _ => None,
    }
}

#[test]
fn what_cannot_be_is_told_and_changes_nothing() {
    let exchange = Exchange::demo();
    let wallet = VISITORS[0].address;
    let long = "x".repeat(65);
    for (arguments, told) in [
        (
            vec!["set", "0x12", "--name", "Ann"],
            "is not a wallet address",
        ),
        (vec!["show", "nobody"], "is not a wallet address"),
        (vec!["set", wallet], "required"),
        (
            vec!["set", wallet, "--name", &long],
            "allowed: a text of at most 64 characters",
        ),
        (
            vec!["set", wallet, "--pseudonym", "two\nlines"],
            "pseudonym is ",
        ),
        (
            vec!["set", wallet, "--image", "a.png"],
            "a URL of http or https",
        ),
        (
            vec!["set", wallet, "--public", "maybe"],
            "invalid value 'maybe'",
        ),
    ] {
        let (is_fine, said) = profile(&exchange, &arguments);
        assert!(!is_fine && said.contains(told), "{arguments:?}: {said}");
    }
    let known = shown(&exchange, &["show", wallet]);
    assert_eq!((&known["name"], &known["bio"]), (&json!(""), &json!("")));
    assert!(exchange.stop().success());
}

#[test]
fn a_trusted_proxy_is_believed_about_the_last_hop() {
    let options = Options::demo()
        .with("FORETELL_GATEWAY_TRUSTED_PROXIES", r#"["127.0.0.0/8"]"#)
        .with("FORETELL_GATEWAY_DATA_ALLOWLIST", r#"["192.0.2.0/24"]"#);
    let exchange = Exchange::start(&options);
    let url = format!("{}/trades", exchange.data_surface);
    runtime().block_on(async {
        for (lines, status) in [
            (&[][..], 401),
            (&["192.0.2.7"], 200),
            (&["::ffff:192.0.2.7"], 200),
            (&["203.0.113.9, 192.0.2.7, 127.0.0.5"], 200),
            (&["203.0.113.9", "192.0.2.7"], 200),
            (&["192.0.2.7", "203.0.113.9"], 401),
            (&["192.0.2.7, nonsense"], 401),
        ] {
            let mut request = Client::new().get(&url);
            for line in lines {
                request = request.header("x-forwarded-for", *line);
            }
            let (got, answer) = send(request).await;
            assert_eq!(got, status, "{lines:?}: {answer}");
        }
    });
    assert!(exchange.stop().success());
}
