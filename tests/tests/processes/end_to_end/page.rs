//! The page against real processes: its file, the reads of its views, and its wallet from the
//! request of a key to a trade and its proof.

use foretell_model::Side;
use foretell_ops::demo::wallets::VISITORS;
use foretell_ops::trader::{Terms, Trader, token};
use foretell_tests::demo::visitors;
use foretell_tests::exchange::{Exchange, Options, PATIENCE, check_error_code};
use reqwest::Method;
use serde_json::{Value, json};

async fn get(exchange: &Exchange, path: &str) -> (u16, Value) {
    let url = format!("{}{path}", exchange.trading);
    let response = reqwest::get(url).await.expect("an answer");
    check_error_code(&response);
    let status = response.status().as_u16();
    (status, response.json().await.expect("JSON"))
}

async fn read(exchange: &Exchange, path: &str) -> Value {
    let (status, body) = get(exchange, path).await;
    assert_eq!(status, 200, "{path}: {body}");
    body
}

/// A call of the wallet, as the page makes it.
async fn wallet(exchange: &Exchange, method: &str, params: Value) -> Value {
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let request = reqwest::Client::new()
        .post(format!("{}/ui/wallet", exchange.trading))
        .header("origin", &exchange.trading)
        .json(&call);
    let answer: Value = request
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    assert_eq!(answer["id"], 7, "{answer}");
    answer["result"].clone()
}

/// Credentials of the first development wallet by `/ui/wallet` alone.
async fn key_by_wallet(exchange: &Exchange, site: &Value) -> Value {
    let address = VISITORS[0].address;
    let seconds = read(exchange, "/time").await.to_string();
    let field = |kind: &str, name: &str| json!({ "name": name, "type": kind });
    let data = json!({
        "types": { "ClobAuth": [
            field("address", "address"), field("string", "timestamp"),
            field("uint256", "nonce"), field("string", "message"),
        ] },
        "primaryType": "ClobAuth",
        "domain": site["auth_domain"],
        "message": {
            "address": address, "timestamp": seconds, "nonce": 0, "message": site["auth_message"],
        },
    });
    let signature = wallet(
        exchange,
        "eth_signTypedData_v4",
        json!([address, data.to_string()]),
    );
    let signature = signature.await;
    let prefix = site["header_prefix"].as_str().expect("a prefix");
    let request = reqwest::Client::new()
        .post(format!("{}/auth/api-key", exchange.trading))
        .header(format!("{prefix}_ADDRESS"), address)
        .header(
            format!("{prefix}_SIGNATURE"),
            signature.as_str().expect("a signature"),
        )
        .header(format!("{prefix}_TIMESTAMP"), seconds)
        .header(format!("{prefix}_NONCE"), "0");
    request
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON")
}

/// A BUY of 10 shares of a token at a price in 0.0001.
async fn buy(trader: &Trader, token_text: &Value, neg_risk: bool, price: u16) -> Value {
    let token = token(token_text.as_str().expect("a token")).expect("digits");
    let terms = Terms::limit(token, neg_risk, Side::Buy, 1_000, price);
    let order = trader.sign(&terms).expect("an order");
    let (status, answer) = trader.place(&order).await.expect("an answer");
    assert_eq!(status, 200, "{answer}");
    answer
}

#[tokio::test]
async fn two_clicks_lead_to_a_trade_and_its_proof() {
    let exchange = Exchange::demo();
    let page = reqwest::get(format!("{}/ui/", exchange.trading))
        .await
        .expect("an answer");
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");

    let site = read(&exchange, "/ui/api/site").await;
    assert_eq!(
        (&site["demo"], &site["wallet"]),
        (&json!(true), &json!("/ui/wallet"))
    );
    assert_eq!(
        site["currency"],
        json!({ "symbol": "$", "code": "USD", "decimals": 2 })
    );
    let accounts = wallet(&exchange, "eth_requestAccounts", json!([])).await;
    assert_eq!(accounts, json!(VISITORS.map(|wallet| wallet.address)));
    let key = key_by_wallet(&exchange, &site).await;
    assert!(
        key["apiKey"].is_string() && key["secret"].is_string(),
        "{key}"
    );

    // Two visitors buy opposite tokens of a market from the catalog.
    let listed = read(&exchange, "/ui/api/catalog/markets?limit=1").await;
    let condition = listed[0]["conditionId"]
        .as_str()
        .expect("a condition")
        .to_owned();
    let path = format!("/ui/api/markets/summary?condition_ids={condition}");
    let before = &read(&exchange, &path).await[0];
    assert_eq!(
        (&before["volume_24h"], &before["last_price"]),
        (&json!("0"), &Value::Null)
    );
    let neg_risk = listed[0]["negRisk"].as_bool().unwrap_or_default();
    let traders = visitors(&exchange, 2).await;
    buy(&traders[0], &before["yes_token"], neg_risk, 6_000).await;
    let taken = buy(&traders[1], &before["no_token"], neg_risk, 4_000).await;
    assert_eq!(taken["status"], "matched", "{taken}");

    let after = &read(&exchange, &path).await[0];
    assert_eq!(after["last_price"], "0.6", "{after}");
    // The taker paid 0.4 for each of 10 shares.
    assert_eq!(
        (&after["volume_24h"], &after["volume_24h_complete"]),
        (&json!("4"), &json!(true))
    );
    assert_eq!(after["volume"], after["volume_24h"]);
    assert_eq!(after["sparkline"].as_array().map(Vec::len), Some(24));

    let (_, mine) = traders[1]
        .signed(Method::GET, "/data/trades", "", "")
        .await
        .expect("an answer");
    let id = mine["data"][0]["id"].as_str().expect("an id").to_owned();
    let proof = read(&exchange, &format!("/ui/api/proof/{id}")).await;
    assert_eq!(
        proof["trade"]["transaction_hash"],
        mine["data"][0]["transaction_hash"]
    );
    assert_eq!(
        (&proof["trade"]["match"], &proof["trade"]["size"]),
        (&json!("mint"), &json!("10"))
    );
    for (role, trader) in [("taker", &traders[1]), ("maker", &traders[0])] {
        let order = &proof[role];
        assert_eq!(order["valid"], true, "{role}: {proof}");
        assert_eq!(order["recovered"], json!(trader.address()), "{role}");
        assert_eq!(order["signed"]["maker"], order["wallet"], "{role}");
    }
    let hash = proof["frame"]["receipt"].as_str().expect("a receipt");
    let by_hash = read(&exchange, &format!("/ui/api/proof/{hash}")).await;
    assert_eq!(by_hash["trade"], proof["trade"]);
    assert_ne!(proof["taker"]["sequence"], proof["maker"]["sequence"]);
    let sequence = proof["frame"]["sequence"].as_u64().expect("a sequence");
    let batch = &proof["frame"]["batch"];
    let (first, last) = (
        batch["first_sequence"].as_u64(),
        batch["last_sequence"].as_u64(),
    );
    assert!(first <= Some(sequence) && Some(sequence) <= last, "{proof}");
    check_command(&exchange, &proof["commands"][0], &proof["frame"]["receipt"]);

    let user = traders[1].address();
    for path in ["positions", "activity", "trades"] {
        let rows = read(&exchange, &format!("/ui/api/data/{path}?user={user}")).await;
        assert_eq!(rows[0]["conditionId"], json!(condition), "{path}: {rows}");
    }
    let (status, error) = get(
        &exchange,
        "/ui/api/proof/00000000-0000-0000-0000-000000000000",
    )
    .await;
    assert_eq!(
        (status, error),
        (404, json!({ "error": "trade not found" }))
    );
    let (status, _) = get(&exchange, "/ui/api/proof/..").await;
    assert_eq!(status, 404);
}

/// Runs a command that the proof names; it prints the receipt.
fn check_command(exchange: &Exchange, command: &Value, receipt: &Value) {
    let words = command.as_str().expect("a command").split(' ').skip(1);
    let output = exchange.foretell(&words.collect::<Vec<_>>()).output();
    let output = output.expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let digits = receipt
        .as_str()
        .expect("a receipt")
        .trim_start_matches("0x");
    assert!(
        output.status.success() && text.contains(digits),
        "{text} {output:?}"
    );
}

#[tokio::test]
async fn the_engine_room_follows_and_survives_the_engine() {
    let mut exchange = Exchange::demo();
    let room = read(&exchange, "/ui/api/engine").await;
    let durable = room["engine"]["durable_sequence"]
        .as_u64()
        .expect("a sequence");
    assert!(durable > 0, "{room}");
    assert_eq!(room["engine"]["stages"].as_array().map(Vec::len), Some(6));
    assert_eq!(room["gateway"]["stages"].as_array().map(Vec::len), Some(4));
    assert!(room["journal"]["bytes"].as_u64() > Some(0), "{room}");
    assert!(!room.to_string().contains("pid"), "{room}");
    let epoch = room["engine"]["epoch"].as_u64();
    exchange.kill_and_wait("engine");
    let deadline = std::time::Instant::now() + PATIENCE;
    loop {
        let room = read(&exchange, "/ui/api/engine").await;
        if room["engine"]["epoch"].as_u64() > epoch {
            break;
        }
        assert!(std::time::Instant::now() < deadline, "{room}");
    }
}

#[tokio::test]
async fn the_site_is_named_by_settings_and_may_be_off() {
    let options = Options::default()
        .with("FORETELL_SITE_NAME", "Harbour <b>Exchange</b>")
        .with("FORETELL_SITE_CURRENCY_SYMBOL", "€");
    let exchange = Exchange::start(&options);
    let site = read(&exchange, "/ui/api/site").await;
    assert_eq!(site["name"], "Harbour <b>Exchange</b>");
    assert_eq!(site["currency"]["symbol"], "€");
    assert_eq!(
        (&site["demo"], &site["wallet"]),
        (&json!(false), &Value::Null)
    );
    let url = format!("{}/ui/wallet", exchange.trading);
    let refused = reqwest::Client::new()
        .post(url)
        .json(&json!({}))
        .send()
        .await
        .expect("an answer");
    assert_eq!(refused.status(), 405, "no wallet outside of the demo");

    let off = Exchange::start(&Options::default().with("FORETELL_SITE_PAGE", "false"));
    let (status, _) = get(&off, "/ui/api/site").await;
    assert_eq!(status, 404);
}
