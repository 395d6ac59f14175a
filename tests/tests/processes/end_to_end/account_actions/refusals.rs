//! Every rejection: status and text, and no change of the state.

use foretell_ops::trader::Trader;
use foretell_tests::demo::{neg_risk_event, place, plain_markets, visitor};
use foretell_tests::exchange::Exchange;
use foretell_tests::operator;
use reqwest::Method;
use serde_json::{Value, json};

use crate::end_to_end::account_actions::{ok, sets, settled};

/// A rejected action: path, body, status, and the expected part of the text.
type Case = (&'static str, String, u16, &'static str);

/// Sends each and compares; none may be journalled.
async fn expect(exchange: &Exchange, trader: &Trader, cases: Vec<Case>) {
    let before = operator::sequence(exchange).await;
    for (action, body, status, text) in cases {
        let path = format!("/positions/{action}");
        let answer = trader.signed(Method::POST, &path, "", &body).await;
        let (given, answer) = answer.expect("an answer");
        assert_eq!(given, status, "{action} {body}: {answer}");
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(
            error.contains(text),
            "{action} {body}: {error:?} should say {text:?}"
        );
    }
    assert_eq!(operator::sequence(exchange).await, before);
}

fn sets_body(condition: &str, amount: &str) -> String {
    json!({ "conditionId": condition, "amount": amount, "reference": "x" }).to_string()
}

fn redeem_body(condition: &str) -> String {
    json!({ "conditionId": condition, "reference": "x" }).to_string()
}

fn convert_body(event: impl Into<Value>, set: impl Into<Value>, amount: &str) -> String {
    let (event, set) = (event.into(), set.into());
    json!({ "eventId": event, "indexSet": set, "amount": amount, "reference": "x" }).to_string()
}

#[tokio::test]
async fn bad_bodies_are_refused_with_the_field_and_what_is_allowed() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let condition = plain_markets()[0].condition_id();
    let unknown = format!("0x{}", "ab".repeat(32));
    let mut cases: Vec<Case> = Vec::new();
    for action in ["split", "merge", "redeem", "convert"] {
        for body in ["", "{", "7", "[]", "null", "\"x\""] {
            cases.push((action, body.to_owned(), 400, "invalid body"));
        }
    }
    for action in ["split", "merge"] {
        for amount in [
            "0",
            "1",
            "9999",
            "10001",
            "-10000",
            "+10000",
            " 10000",
            "1e6",
            "10000.0",
            "0x2710",
            "18446744073709551616",
            "99999999999999999999",
            "１００００",
        ] {
            cases.push((action, sets_body(&condition, amount), 400, "amount is '"));
        }
        let huge = "1000000000010000";
        cases.push((
            action,
            sets_body(&condition, huge),
            400,
            "amount is '1000000000010000', allowed: ",
        ));
        cases.push((action, sets_body(&condition, ""), 400, "amount is ''"));
        cases.push((
            action,
            sets_body(&unknown, "10000"),
            404,
            "market not found",
        ));
        cases.push((
            action,
            sets_body("0x12", "10000"),
            400,
            "conditionId is '0x12'",
        ));
        cases.push((action, sets_body("", "10000"), 400, "conditionId is ''"));
        let twice = format!(
            r#"{{"amount":"10000","conditionId":"{condition}","amount":"20000","reference":"x"}}"#
        );
        cases.push((
            action,
            twice,
            400,
            "the key 'amount' is repeated, allowed: once",
        ));
        for (reference, text) in [
            (json!(""), "reference is ''"),
            (json!("x".repeat(65)), "reference is 'xxx"),
            (
                json!("a\u{1b}[31m"),
                "reference is 'a\\u{1b}[31m', allowed: a text of 1 to 64 printable",
            ),
            (
                json!("a\u{202e}b\0"),
                "reference is 'a\\u{202e}b\\0', allowed: ",
            ),
            (json!(7), "reference is 7"),
            (Value::Null, "reference is missing"),
        ] {
            let body = json!({
                "conditionId": condition, "amount": "10000", "reference": reference,
            });
            cases.push((action, body.to_string(), 400, text));
        }
        let number = json!({ "conditionId": condition, "amount": 10000, "reference": "x" });
        cases.push((
            action,
            number.to_string(),
            400,
            "amount is 10000, allowed: a text",
        ));
    }
    cases.push(("redeem", redeem_body(&unknown), 404, "market not found"));
    let event = neg_risk_event().id;
    for set in [
        json!(0),
        json!(-1),
        json!(1.5),
        json!("0x3"),
        json!([0]),
        json!(null),
    ] {
        cases.push((
            "convert",
            convert_body(event, set, "10000"),
            400,
            "indexSet is ",
        ));
    }
    for wrong in [
        json!("abc"),
        json!("99999999999999999999"),
        json!(-1),
        json!(null),
    ] {
        cases.push((
            "convert",
            convert_body(wrong, 1, "10000"),
            400,
            "eventId is ",
        ));
    }
    cases.push((
        "convert",
        convert_body(999_999_999, 1, "10000"),
        404,
        "event not found",
    ));
    cases.push((
        "convert",
        convert_body(event, 1, "10001"),
        400,
        "amount is '10001'",
    ));
    let beyond = (1_u64 << neg_risk_event().markets.len()).to_string();
    let beyond = convert_body(event, beyond, "10000");
    cases.push((
        "convert",
        beyond,
        400,
        "indexSet or conditionIds contains an unknown question",
    ));
    expect(&exchange, &trader, cases).await;

    let unsigned = reqwest::Client::new()
        .post(format!("{}/positions/split", exchange.trading))
        .json(&json!({}));
    assert_eq!(unsigned.send().await.expect("an answer").status(), 401);
    let get = trader.get("/positions/split").await.expect("an answer");
    assert_eq!(get.0, 405);
    let long = format!("{{\"reference\":\"{}\"}}", "x".repeat(5_000));
    let answer = trader
        .signed(Method::POST, "/positions/split", "", &long)
        .await;
    assert_eq!(answer.expect("an answer").0, 413);
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn what_an_account_lacks_is_named() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let condition = plain_markets()[0].condition_id();
    let lacking = "not enough balance / allowance: needed 10000.01, available 10000";
    let (event, cases) = (
        neg_risk_event().id,
        vec![
            ("split", sets_body(&condition, "10000010000"), 400, lacking),
            (
                "merge",
                sets_body(&condition, "10000"),
                400,
                "needed 0.01, available 0",
            ),
            (
                "redeem",
                redeem_body(&condition),
                409,
                "market is not resolved",
            ),
        ],
    );
    expect(&exchange, &trader, cases).await;
    let none = vec![(
        "convert",
        convert_body(event, 1, "10000"),
        400,
        "needed 0.01, available 0",
    )];
    expect(&exchange, &trader, none).await;
    // Amounts of resting orders are reserved, not free.
    ok(trader.split(&sets(&condition, 1_000, "s")).await);
    let [yes, _] = plain_markets()[0].token_ids();
    let token = foretell_ops::trader::token(&yes).expect("a token");
    let terms =
        foretell_ops::trader::Terms::limit(token, false, foretell_model::Side::Sell, 900, 6_000);
    place(&trader, &terms).await;
    let reserved = vec![(
        "merge",
        sets_body(&condition, "1010000"),
        400,
        "needed 1.01, available 1",
    )];
    expect(&exchange, &trader, reserved).await;
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn the_state_of_a_market_decides_what_may_be_done_in_it() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let condition = plain_markets()[0].condition_id();
    let named = json!({ "condition_id": condition });
    let all = |split: (u16, &'static str), merge: Option<&'static str>, redeem: &'static str| {
        let mut cases = vec![("split", sets_body(&condition, "10000"), split.0, split.1)];
        cases.extend(merge.map(|text| ("merge", sets_body(&condition, "10000"), 400, text)));
        cases.push(("redeem", redeem_body(&condition), 409, redeem));
        cases
    };
    ok(trader.split(&sets(&condition, 1_000, "s")).await);
    operator::done(&exchange, "/markets/pause", &named).await;
    let paused = all((409, "condition_paused"), None, "market is not resolved");
    expect(&exchange, &trader, paused).await;
    ok(trader.merge(&sets(&condition, 100, "paused")).await);
    operator::done(&exchange, "/markets/close", &named).await;
    let closed = all((400, "market is closed"), None, "market is not resolved");
    expect(&exchange, &trader, closed).await;
    ok(trader.merge(&sets(&condition, 100, "closed")).await);
    let resolution = json!({ "condition_id": condition, "payout": "yes" });
    operator::done(&exchange, "/markets/resolve", &resolution).await;
    settled(&trader, &plain_markets()[0]).await;
    let closed = "market is closed";
    let mut resolved = all((400, closed), Some(closed), "");
    resolved.pop();
    expect(&exchange, &trader, resolved).await;
    let answer = ok(trader.redeem(&condition, "late").await);
    assert_eq!(answer["collateral"], "0");

    // A market that never opened.
    let sample = &plain_markets()[1];
    let registration = json!({
        "condition_id": format!("0x{}", "77".repeat(32)), "token_ids": ["771", "772"],
        "outcomes": ["Yes", "No"], "question": sample.question, "slug": "not-open",
        "tick_size": "0.01", "minimum_order_size": "5", "activate": false,
    });
    operator::done(&exchange, "/markets", &registration).await;
    let registered = format!("0x{}", "77".repeat(32));
    let cases = vec![
        (
            "split",
            sets_body(&registered, "10000"),
            400,
            "not yet ready",
        ),
        (
            "merge",
            sets_body(&registered, "10000"),
            400,
            "not yet ready",
        ),
        (
            "redeem",
            redeem_body(&registered),
            409,
            "market is not resolved",
        ),
    ];
    expect(&exchange, &trader, cases).await;
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn a_convert_needs_the_questions_given_active() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let event = neg_risk_event();
    let first = event.markets[0].condition_id();
    ok(trader.split(&sets(&first, 1_000, "s")).await);
    let last = event.markets.last().expect("a question").condition_id();
    let named = json!({ "condition_id": last });
    let count = event.markets.len();
    let of_last = || convert_body(event.id, 1_u64 << (count - 1), "10000");
    for state in ["pause", "close"] {
        operator::done(&exchange, &format!("/markets/{state}"), &named).await;
        let inactive = "a question of the event is not active";
        let cases = vec![("convert", of_last(), 409, inactive)];
        expect(&exchange, &trader, cases).await;
    }
    let resolution = json!({ "condition_id": last, "payout": "no" });
    operator::done(&exchange, "/markets/resolve", &resolution).await;
    let cases = vec![("convert", of_last(), 409, "not active")];
    expect(&exchange, &trader, cases).await;
    // Those that are active convert, among the open ones.
    let answer = ok(trader.convert(event.id, 1, 100, "c").await);
    let received = answer["shares"].as_array().map_or(0, Vec::len);
    // One is over, and outside is no question of the list.
    assert_eq!(received, count, "{answer}");
    ok(trader.merge(&sets(&first, 900, "m")).await);
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn system_modes_and_closed_only_leave_the_way_out_open() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let (plain, event) = (plain_markets(), neg_risk_event());
    let [condition, ended] = [0, 1].map(|index| plain[index].condition_id());
    ok(trader.split(&sets(&condition, 1_000, "s")).await);
    ok(trader.split(&sets(&ended, 1_000, "e")).await);
    ok(trader
        .split(&sets(&event.markets[0].condition_id(), 1_000, "n"))
        .await);
    crate::end_to_end::account_actions::resolve(&exchange, &ended, "yes").await;
    let entering = |status: u16, text: &'static str| {
        vec![
            ("split", sets_body(&condition, "10000"), status, text),
            ("convert", convert_body(event.id, 1, "10000"), status, text),
        ]
    };
    for (mode, status, text) in [
        ("cancel_only", 503, "Trading is currently cancel-only"),
        ("paused", 409, "system_paused"),
    ] {
        let mode_body = json!({ "mode": mode });
        operator::done(&exchange, "/system/mode", &mode_body).await;
        expect(&exchange, &trader, entering(status, text)).await;
        ok(trader.merge(&sets(&condition, 10, mode)).await);
    }
    ok(trader.redeem(&ended, "r").await);
    operator::done(&exchange, "/system/mode", &json!({ "mode": "post_only" })).await;
    ok(trader.split(&sets(&condition, 1, "post_only")).await);
    operator::done(&exchange, "/system/mode", &json!({ "mode": "running" })).await;

    let closed_only = json!({ "wallet": trader.address(), "closed_only": true });
    operator::done(&exchange, "/accounts/closed-only", &closed_only).await;
    let text = "address in closed only mode";
    expect(&exchange, &trader, entering(400, text)).await;
    ok(trader.merge(&sets(&condition, 10, "closed only")).await);
    assert!(exchange.stop().success());
}
