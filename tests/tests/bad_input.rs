//! Hostile and careless input on the order paths: each gets its status and text, nothing changes,
//! nobody panics. One exchange of real processes serves the whole table.

use foretell_model::{Side, TimeMs, TokenId};
use foretell_ops::demo::sample::Sample;
use foretell_ops::demo::wallets::VISITORS;
use foretell_ops::trader::{SignedOrder, Terms, Trader, token};
use foretell_tests::exchange::{Exchange, Options};
use reqwest::Method;
use serde_json::{Value, json};

/// A market at tick 0.01 with a minimum of 5 shares and no fee.
const MARKET: &str = "hottest-year-2027";

struct Site {
    exchange: Exchange,
    trader: Trader,
    other: Trader,
    token: TokenId,
}

impl Site {
    async fn start() -> Self {
        let exchange = Exchange::start(env!("CARGO_BIN_EXE_foretell-under-test"), &Options::demo());
        let connect =
            |index: usize| Trader::connect(&exchange.trading, VISITORS[index].private_key, 0);
        let (trader, other) = (
            connect(0).await.expect("a key"),
            connect(1).await.expect("a key"),
        );
        let sample = Sample::load().expect("the sample");
        let market = sample
            .events
            .iter()
            .flat_map(|event| &event.markets)
            .find(|market| market.slug == MARKET);
        let [yes, _] = market.expect("the market").token_ids();
        Self {
            trader,
            other,
            token: token(&yes).expect("a token"),
            exchange,
        }
    }

    fn limit(&self, side: Side, lots: u64, price: u16) -> Terms<'static> {
        Terms::limit(self.token, false, side, lots, price)
    }

    fn valid(&self) -> SignedOrder {
        self.trader
            .sign(&self.limit(Side::Buy, 1_000, 2_000))
            .expect("a signature")
    }

    /// What must stay as it is: the sequence of the exchange and the money of the trader.
    async fn state(&self) -> Value {
        let query = "?asset_type=COLLATERAL&signature_type=0";
        let (_, balance) = self
            .trader
            .signed(Method::GET, "/balance-allowance", query, "")
            .await
            .expect("an answer");
        let (_, orders) = self
            .trader
            .signed(Method::GET, "/data/orders", "", "")
            .await
            .expect("an answer");
        let status: Value = reqwest::Client::new()
            .get(format!("{}/status", self.exchange.operator))
            .bearer_auth(self.exchange.operator_token())
            .send()
            .await
            .expect("an answer")
            .json()
            .await
            .expect("JSON");
        json!({ "sequence": status["engine"]["sequence"], "balance": balance, "orders": orders })
    }
}

fn with(order: &SignedOrder, field: &str, value: Value) -> String {
    let mut body = order.body.clone();
    let inside = body["order"].get(field).is_some();
    if inside {
        body["order"][field] = value
    } else {
        body[field] = value
    }
    body.to_string()
}

fn without(order: &SignedOrder, field: &str) -> String {
    let mut body = order.body.clone();
    if body["order"]
        .as_object_mut()
        .and_then(|order| order.remove(field))
        .is_none()
    {
        body.as_object_mut().expect("an object").remove(field);
    }
    body.to_string()
}

#[tokio::test]
async fn bad_orders_are_refused_with_their_text_and_change_nothing() {
    let site = Site::start().await;
    // Both keys exist and one order is known before the state is noted.
    let first = site.valid();
    let (status, answer) = site.trader.place(&first).await.expect("an answer");
    assert_eq!(
        (status, &answer["status"]),
        (200, &json!("live")),
        "{answer}"
    );
    let before = site.state().await;
    for (what, body, text) in bodies(&site, &first) {
        let (status, answer) = site
            .trader
            .signed(Method::POST, "/order", "", &body)
            .await
            .expect("an answer");
        assert_eq!(status, 400, "{what}: {answer}");
        let error = answer["error"]
            .as_str()
            .unwrap_or_else(|| panic!("{what}: no error text in {answer}"));
        assert!(
            error.contains(text),
            "{what}: {error:?} should say {text:?}"
        );
    }
    assert_eq!(site.state().await, before);
    assert!(site.exchange.stop().success());
}

/// What is wrong, the body, and what the error must say.
fn bodies(site: &Site, first: &SignedOrder) -> Vec<(String, String, &'static str)> {
    let valid = site.valid();
    let mut cases: Vec<(String, String, &'static str)> = Vec::new();
    for text in [
        "{",
        "[]",
        "null",
        "7",
        "\"x\"",
        "{\"order\":{}}",
        "{\"order\":7}",
        "nope",
    ] {
        cases.push((format!("body {text}"), text.to_owned(), ""));
    }
    for field in [
        "tokenId",
        "maker",
        "signer",
        "makerAmount",
        "takerAmount",
        "side",
        "salt",
        "signature",
        "signatureType",
        "owner",
    ] {
        cases.push((format!("without {field}"), without(&valid, field), field));
    }
    for field in ["makerAmount", "takerAmount"] {
        for value in [
            "0",
            "-1",
            "+1",
            "1.0",
            "1e6",
            "0x10",
            " 1",
            "1 ",
            "",
            "١٢",
            "18446744073709551616",
            "115792089237316195423570985008687907853269984665640564039457584007913129639936",
        ] {
            cases.push((
                format!("{field} {value:?}"),
                with(&valid, field, json!(value)),
                "",
            ));
        }
        cases.push((
            format!("{field} of 100 digits"),
            with(&valid, field, json!("9".repeat(100))),
            field,
        ));
        cases.push((
            format!("{field} an object"),
            with(&valid, field, json!({})),
            field,
        ));
    }
    for (field, value) in [
        ("side", json!("HOLD")),
        ("side", json!(0)),
        ("signatureType", json!(4)),
        ("signatureType", json!(-1)),
        ("signatureType", json!(2_147_483_648_u64)),
        ("maker", json!("0x12")),
        ("signer", json!("nobody")),
        ("orderType", json!("IOC")),
        ("tokenId", json!("abc")),
        ("metadata", json!("0x12")),
        ("builder", json!(7)),
        ("postOnly", json!("yes")),
        ("expiration", json!("soon")),
    ] {
        cases.push((
            format!("{field} {value}"),
            with(&valid, field, value),
            field_text(field),
        ));
    }
    cases.push((
        "an unknown token".to_owned(),
        resigned(site, |terms| terms.token = TokenId([7; 32])),
        "",
    ));
    cases.push((
        "another owner".to_owned(),
        with(&valid, "owner", json!(site.other.api_key())),
        "the order owner has to be the owner of the API KEY",
    ));
    cases.push((
        "price off tick".to_owned(),
        resigned(site, |terms| terms.maker_amount += 1_000),
        "breaks minimum tick size rule: 0.01",
    ));
    cases.push((
        "price one".to_owned(),
        resigned(site, |terms| terms.maker_amount = terms.taker_amount),
        "tick size rule",
    ));
    cases.push((
        "below the minimum".to_owned(),
        signed(site, site.limit(Side::Buy, 499, 2_000)),
        "lower than the minimum: 5",
    ));
    cases.push((
        "finer than a lot".to_owned(),
        resigned(site, |terms| {
            terms.taker_amount += 5_000;
            terms.maker_amount += 1_000;
        }),
        "more than two decimals",
    ));
    cases.push((
        "a huge order".to_owned(),
        signed(site, site.limit(Side::Buy, 100_000_000_001, 2_000)),
        "",
    ));
    cases.push((
        "more than there is".to_owned(),
        signed(site, site.limit(Side::Buy, 10_000_000, 9_900)),
        "not enough balance / allowance",
    ));
    cases.push((
        "shares nobody has".to_owned(),
        signed(site, site.limit(Side::Sell, 1_000, 9_000)),
        "not enough balance / allowance",
    ));
    cases.push((
        "an expiration on GTC".to_owned(),
        resigned(site, |terms| terms.expiration = 4_000_000_000),
        "invalid expiration",
    ));
    cases.push((
        "GTD without one".to_owned(),
        resigned(site, |terms| terms.order_type = "GTD"),
        "invalid expiration",
    ));
    cases.push((
        "GTD in the past".to_owned(),
        resigned(site, |terms| {
            terms.order_type = "GTD";
            terms.expiration = 1_000;
        }),
        "invalid expiration",
    ));
    cases.push((
        "post-only FOK".to_owned(),
        resigned(site, |terms| {
            terms.order_type = "FOK";
            terms.post_only = true;
        }),
        "",
    ));
    cases.push((
        "the id again with other terms".to_owned(),
        with(first, "orderType", json!("FAK")),
        "Duplicated.",
    ));
    cases.push((
        "a stale timestamp".to_owned(),
        stale(site),
        "invalid order timestamp",
    ));
    let wrong_domain = site
        .trader
        .sign(&Terms {
            neg_risk: true,
            ..site.limit(Side::Buy, 1_000, 2_000)
        })
        .expect("a signature");
    cases.push((
        "the domain of other markets".to_owned(),
        wrong_domain.body.to_string(),
        "invalid signature",
    ));
    let unbound = Terms {
        wallet: Some((
            foretell_model::WalletAddress([9; 20]),
            foretell_model::WalletKind::Safe,
        )),
        ..site.limit(Side::Buy, 1_000, 2_000)
    };
    cases.push(("an unbound maker".to_owned(), signed(site, unbound), ""));
    cases.extend(bad_signatures(&valid));
    let mut old = valid.body.clone();
    for (field, value) in [
        ("taker", "0x0000000000000000000000000000000000000000"),
        ("nonce", "0"),
        ("feeRateBps", "0"),
    ] {
        old["order"][field] = json!(value);
    }
    old["order"]
        .as_object_mut()
        .expect("an object")
        .remove("timestamp");
    cases.push((
        "an order of the old version".to_owned(),
        old.to_string(),
        "order_version_mismatch",
    ));
    let doubled = valid.body.to_string().replacen(
        "\"makerAmount\":",
        "\"makerAmount\":\"1\",\"makerAmount\":",
        1,
    );
    cases.push(("a key twice".to_owned(), doubled, ""));
    cases.push(("nesting".to_owned(), "[".repeat(10_000), ""));
    cases
}

fn field_text(field: &str) -> &'static str {
    match field {
        "tokenId" => "oken",
        "expiration" => "expiration",
        "side" => "side",
        _ => "",
    }
}

fn bad_signatures(valid: &SignedOrder) -> Vec<(String, String, &'static str)> {
    let text = valid.body["order"]["signature"]
        .as_str()
        .expect("a signature")
        .to_owned();
    let mut bytes = hex::decode(&text[2..]).expect("hex");
    let v = bytes[64];
    let mut cases = Vec::new();
    let mut case = |what: &str, bytes: &[u8]| {
        let value = json!(format!("0x{}", hex::encode(bytes)));
        cases.push((
            format!("signature {what}"),
            with(valid, "signature", value),
            "invalid signature",
        ));
    };
    case("truncated", &bytes[..64]);
    case("of one byte more", &[&bytes[..], &[0]].concat());
    case("of zeros", &[0; 65]);
    case("empty", &[]);
    for wrong in [2, 26, 29, 255] {
        bytes[64] = wrong;
        case(&format!("with v {wrong}"), &bytes);
    }
    bytes[64] = v;
    case("with r zero", &[&[0; 32], &bytes[32..]].concat());
    case(
        "with s zero",
        &[&bytes[..32], &[0; 32], &bytes[64..]].concat(),
    );
    case("malleated", &malleated(&bytes));
    bytes[3] ^= 1;
    case("with a flipped bit", &bytes);
    cases
}

/// The twin of a signature that recovers to the same key: n − s and the other parity.
fn malleated(signature: &[u8]) -> Vec<u8> {
    use alloy_primitives::{U256, uint};
    let order = uint!(0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141_U256);
    let s = order - U256::from_be_slice(&signature[32..64]);
    let mut twin = signature.to_vec();
    twin[32..64].copy_from_slice(&s.to_be_bytes::<32>());
    twin[64] = 27 + 28 - signature[64];
    twin
}

fn signed(site: &Site, terms: Terms<'_>) -> String {
    site.trader
        .sign(&terms)
        .expect("a signature")
        .body
        .to_string()
}

fn resigned(site: &Site, change: impl FnOnce(&mut Terms<'static>)) -> String {
    let mut terms = site.limit(Side::Buy, 1_000, 2_000);
    change(&mut terms);
    signed(site, terms)
}

fn stale(site: &Site) -> String {
    let terms = site.limit(Side::Buy, 1_000, 2_000);
    site.trader
        .sign_exactly(&terms, 1, TimeMs(1_700_000_000_000))
        .expect("a signature")
        .body
        .to_string()
}

#[tokio::test]
async fn batches_are_refused_whole_or_element_by_element() {
    let site = Site::start().await;
    let before = site.state().await;
    let sixteen: Vec<Value> = (0..16).map(|_| site.valid().body).collect();
    for (body, text) in [
        (
            json!(sixteen).to_string(),
            "Too many orders in payload: 16, max allowed: 15",
        ),
        ("{}".to_owned(), ""),
        ("[".to_owned(), ""),
        ("[]".to_owned(), ""),
    ] {
        let (status, answer) = site
            .trader
            .signed(Method::POST, "/orders", "", &body)
            .await
            .expect("an answer");
        assert_eq!(status, 400, "{answer}");
        assert!(
            answer["error"]
                .as_str()
                .is_some_and(|error| error.contains(text)),
            "{answer}"
        );
    }
    assert_eq!(site.state().await, before);

    let (good, bad) = (site.valid(), json!({ "order": { "tokenId": "x" } }));
    let body = json!([bad, good.body, good.body, 7]).to_string();
    let (status, answer) = site
        .trader
        .signed(Method::POST, "/orders", "", &body)
        .await
        .expect("an answer");
    assert_eq!(status, 200, "{answer}");
    let results = answer.as_array().expect("results");
    assert_eq!(results.len(), 4);
    assert_eq!(results[0]["success"], false);
    assert_eq!(results[1]["success"], true);
    assert_eq!(results[1]["orderID"], good.id.to_string());
    assert_eq!(
        results[2]["duplicate"], true,
        "the same order twice in one batch executes once: {answer}"
    );
    assert_eq!(results[2]["orderID"], good.id.to_string());
    assert_eq!(results[3]["success"], false);
    assert!(site.exchange.stop().success());
}

#[tokio::test]
async fn credentials_that_do_not_hold_are_one_and_the_same_401() {
    let site = Site::start().await;
    let before = site.state().await;
    let body = site.valid().body.to_string();
    let client = reqwest::Client::new();
    let url = format!("{}/order", site.exchange.trading);
    let headers = site.trader.headers("POST", "/order", body.as_bytes());
    let mut texts = Vec::new();
    let changes: &[(&str, &str)] = &[
        ("SERVICE_SIGNATURE", "00"),
        ("SERVICE_SIGNATURE", ""),
        (
            "SERVICE_SIGNATURE",
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        ),
        (
            "SERVICE_PASSPHRASE",
            "0000000000000000000000000000000000000000000000000000000000000000",
        ),
        ("SERVICE_API_KEY", "00000000-0000-4000-8000-000000000000"),
        (
            "SERVICE_ADDRESS",
            "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
        ),
    ];
    for (name, value) in changes {
        let mut request = client.post(&url).body(body.clone());
        for (header, own) in &headers {
            request = request.header(header, if header == name { value } else { own.as_str() });
        }
        let response = request.send().await.expect("an answer");
        assert_eq!(response.status(), 401, "{name} {value:?}");
        texts.push(response.text().await.expect("a body"));
    }
    let same = &texts[3];
    for index in [2, 4, 5] {
        assert_eq!(
            &texts[index], same,
            "a 401 must not tell which part was wrong"
        );
    }
    for timestamp in [
        "1",
        "-5",
        "1.5",
        "1e9",
        "007",
        "99999999999999999999999",
        "",
    ] {
        let mut request = client.post(&url).body(body.clone());
        for (header, own) in &headers {
            request = request.header(
                header,
                if header == "SERVICE_TIMESTAMP" {
                    timestamp
                } else {
                    own.as_str()
                },
            );
        }
        let status = request.send().await.expect("an answer").status();
        assert_eq!(status, 401, "timestamp {timestamp:?}");
    }
    let status = client
        .post(&url)
        .body(body.clone())
        .send()
        .await
        .expect("an answer")
        .status();
    assert_eq!(status, 401, "no headers at all");
    // A valid HMAC of another path, and a body changed under it.
    let mut request = client.post(&url).body(body.clone());
    for (header, own) in site.trader.headers("POST", "/orders", body.as_bytes()) {
        request = request.header(header, own);
    }
    assert_eq!(request.send().await.expect("an answer").status(), 401);
    let mut request = client.post(&url).body(format!("{body} "));
    for (header, own) in &headers {
        request = request.header(header, own);
    }
    assert_eq!(request.send().await.expect("an answer").status(), 401);
    assert_eq!(site.state().await, before);
    assert!(site.exchange.stop().success());
}
