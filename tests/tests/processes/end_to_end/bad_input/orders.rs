//! Malformed orders, and orders that no one may place.

use foretell_model::{Side, TimeMs, TokenId, WalletAddress, WalletKind};
use foretell_ops::trader::{SignedOrder, Terms};
use foretell_tests::demo::Demo;
use reqwest::Method;
use serde_json::{Value, json};

use crate::end_to_end::bad_input::signatures::bad_signatures;
use crate::end_to_end::bad_input::{send, state, valid, with};

/// The fault, the body, and the expected part of the error.
pub(crate) type Case = (String, String, &'static str);

#[tokio::test]
async fn bad_orders_are_refused_with_their_text_and_change_nothing() {
    let site = Demo::start().await;
    // Both keys exist and one order is known before the state is recorded.
    let first = valid(&site);
    let (status, answer) = site.trader.place(&first).await.expect("an answer");
    assert_eq!(
        (status, &answer["status"]),
        (200, &json!("live")),
        "{answer}"
    );
    let before = state(&site).await;
    let valid = valid(&site);
    let cases = (shapes(&valid).into_iter())
        .chain(amounts(&valid))
        .chain(fields(&site, &valid))
        .chain(terms(&site))
        .chain(identities(&site, &first))
        .chain(bad_signatures(&valid));
    for (what, body, text) in cases {
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
        let repeatable = |letter: char| !letter.is_control() && letter != '\u{202e}';
        assert!(
            error.len() < 400 && error.chars().all(repeatable),
            "{what}: {error:?}"
        );
    }
    let text = valid.body.to_string();
    let (head, tail) = text.split_once("BUY").expect("a side");
    let bytes = [head.as_bytes(), &[0xff, 0xfe], tail.as_bytes()].concat();
    let headers = site.trader.headers("POST", "/order", &bytes);
    let (status, answer) = send(&site, Method::POST, "/order", &headers, &bytes).await;
    assert_eq!(status, 400, "no UTF-8: {answer}");
    assert_eq!(state(&site).await, before);
    assert!(site.exchange.stop().success());
}

/// Bodies without the shape of an order.
fn shapes(valid: &SignedOrder) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
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
        cases.push((format!("without {field}"), without(valid, field), field));
    }
    let doubled = valid.body.to_string().replacen(
        "\"makerAmount\":",
        "\"makerAmount\":\"1\",\"makerAmount\":",
        1,
    );
    cases.push((
        "a key twice".to_owned(),
        doubled,
        "'makerAmount' is repeated, allowed: once",
    ));
    cases.push(("nesting".to_owned(), "[".repeat(10_000), ""));
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
    cases
}

/// Amounts that are not numbers, or not valid for an order.
fn amounts(valid: &SignedOrder) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
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
            "340282366920938463463374607431768211456",
            "115792089237316195423570985008687907853269984665640564039457584007913129639935",
            "115792089237316195423570985008687907853269984665640564039457584007913129639936",
            &"9".repeat(100),
        ] {
            cases.push((
                format!("{field} {value:?}"),
                with(valid, field, json!(value)),
                field,
            ));
        }
        cases.push((
            format!("{field} an object"),
            with(valid, field, json!({})),
            field,
        ));
    }
    cases
}

/// Fields with undefined values.
fn fields(site: &Demo, valid: &SignedOrder) -> Vec<Case> {
    let table = [
        ("side", json!("HOLD"), "side"),
        ("side", json!(0), "side"),
        ("side", json!("BUY\u{0}"), "side"),
        ("side", json!("\u{202e}YUB"), "side"),
        ("signatureType", json!(4), "signatureType"),
        ("signatureType", json!(-1), "signatureType"),
        ("signatureType", json!(2_147_483_648_u64), "signatureType"),
        ("signatureType", json!("0"), "signatureType"),
        ("maker", json!("0x12"), "maker"),
        ("maker", json!(format!("0x{}", "1".repeat(39))), "maker"),
        ("maker", json!(format!("0x{}", "1".repeat(41))), "maker"),
        ("signer", json!("nobody"), "signer"),
        ("orderType", json!("IOC"), "orderType"),
        ("orderType", json!("🎲"), "orderType"),
        ("orderType", json!("G".repeat(5_000)), "orderType"),
        ("tokenId", json!("abc"), "oken"),
        ("metadata", json!("0x12"), "metadata"),
        ("builder", json!(7), "builder"),
        ("postOnly", json!("yes"), "postOnly"),
        ("expiration", json!("soon"), "expiration"),
        (
            "owner",
            json!(site.other.api_key()),
            "the order owner has to be the owner of the API KEY",
        ),
        (
            "owner",
            json!("\n\u{202e}🎲".repeat(500)),
            "the order owner has to be the owner of the API KEY",
        ),
    ];
    let case = |(field, value, text): (&str, Value, &'static str)| {
        let what = format!("{field} {value:.60}");
        (what, with(valid, field, value), text)
    };
    let mut cases: Vec<Case> = table.map(case).into();
    let mut elsewhere = valid.body.clone();
    elsewhere["order"]["conditionId"] = json!(format!("0x{}", "1".repeat(64)));
    cases.push((
        "the condition of another token".to_owned(),
        elsewhere.to_string(),
        "the condition of the tokenId",
    ));
    cases
}

/// Correctly signed orders with invalid terms.
fn terms(site: &Demo) -> Vec<Case> {
    let resigned = |change: &dyn Fn(&mut Terms<'static>)| {
        let mut terms = site.limit(Side::Buy, 1_000, 2_000);
        change(&mut terms);
        signed(site, terms)
    };
    let limit = |side, lots, price| signed(site, site.limit(side, lots, price));
    const BALANCE: &str = "not enough balance / allowance";
    const TICK: &str = "tick size rule";
    let table: Vec<(&str, String, &'static str)> = vec![
        (
            "an unknown token",
            resigned(&|terms| terms.token = TokenId([7; 32])),
            "",
        ),
        (
            "price off tick",
            resigned(&|terms| terms.maker_amount += 1_000),
            "breaks minimum tick size rule: 0.01",
        ),
        (
            "price one",
            resigned(&|terms| terms.maker_amount = terms.taker_amount),
            TICK,
        ),
        (
            "price above one",
            resigned(&|terms| terms.maker_amount = 2 * terms.taker_amount),
            "",
        ),
        (
            "price near zero",
            resigned(&|terms| terms.maker_amount = 1),
            "",
        ),
        (
            "pays 2^63",
            resigned(&|terms| terms.maker_amount = 1 << 63),
            "",
        ),
        (
            "takes 2^63",
            resigned(&|terms| terms.taker_amount = 1 << 63),
            "",
        ),
        (
            "both 2^64 - 1",
            resigned(&|terms| (terms.maker_amount, terms.taker_amount) = (u64::MAX, u64::MAX)),
            "",
        ),
        (
            "below the minimum",
            limit(Side::Buy, 499, 2_000),
            "lower than the minimum: 5",
        ),
        (
            "finer than a lot",
            resigned(&|terms| {
                terms.taker_amount += 5_000;
                terms.maker_amount += 1_000;
            }),
            "more than two decimals",
        ),
        ("a huge order", limit(Side::Buy, 100_000_000_001, 2_000), ""),
        (
            "more than there is",
            limit(Side::Buy, 10_000_000, 9_900),
            BALANCE,
        ),
        (
            "shares nobody has",
            limit(Side::Sell, 1_000, 9_000),
            BALANCE,
        ),
        (
            "an expiration on GTC",
            resigned(&|terms| terms.expiration = 4_000_000_000),
            "invalid expiration",
        ),
        (
            "GTD without one",
            resigned(&|terms| terms.order_type = "GTD"),
            "invalid expiration",
        ),
        (
            "GTD in the past",
            resigned(&|terms| (terms.order_type, terms.expiration) = ("GTD", 1_000)),
            "invalid expiration",
        ),
        (
            "post-only FOK",
            resigned(&|terms| (terms.order_type, terms.post_only) = ("FOK", true)),
            "",
        ),
    ];
    let case = |(what, body, text): (&str, String, &'static str)| (what.to_owned(), body, text);
    table.into_iter().map(case).collect()
}

/// Orders of another account, of another time, of other markets, or already known.
fn identities(site: &Demo, first: &SignedOrder) -> Vec<Case> {
    let limit = site.limit(Side::Buy, 1_000, 2_000);
    let stale = site
        .trader
        .sign_exactly(&limit, 1, TimeMs(1_700_000_000_000))
        .expect("a signature");
    let wallet = |kind| Terms {
        wallet: Some((WalletAddress([9; 20]), kind)),
        ..limit
    };
    let mut cases: Vec<Case> = [WalletKind::Proxy, WalletKind::Safe, WalletKind::Deposit]
        .map(|kind| {
            let what = format!("an unbound maker: {kind:?}");
            (what, signed(site, wallet(kind)), "")
        })
        .into();
    cases.push((
        "the id again with other terms".to_owned(),
        with(first, "orderType", json!("FAK")),
        "Duplicated.",
    ));
    cases.push((
        "a stale timestamp".to_owned(),
        stale.body.to_string(),
        "invalid order timestamp",
    ));
    let other_domain = Terms {
        neg_risk: true,
        ..limit
    };
    cases.push((
        "the domain of other markets".to_owned(),
        signed(site, other_domain),
        "invalid signature",
    ));
    cases
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

fn signed(site: &Demo, terms: Terms<'_>) -> String {
    site.trader
        .sign(&terms)
        .expect("a signature")
        .body
        .to_string()
}
