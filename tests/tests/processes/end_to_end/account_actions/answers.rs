//! Response and effect of each account action.

use foretell_model::EventId;
use foretell_model::outside::outside_names;
use foretell_ops::trader::Trader;
use foretell_tests::demo::{neg_risk_event, place, plain_markets, visitor};
use foretell_tests::exchange::Exchange;
use foretell_tests::operator;
use reqwest::Method;
use serde_json::{Value, json};

use crate::end_to_end::account_actions::{balance, ok, resolve, sets, settled, shares};

/// Checks the fields that every response has in addition to the amounts, and removes them.
fn moved(mut answer: Value) -> Value {
    let fields = answer.as_object_mut().expect("an object");
    let mut take = |name: &str| fields.remove(name).unwrap_or_default();
    assert_eq!(take("success"), true);
    assert_eq!(take("duplicate"), false);
    assert!(take("sequence").as_u64().is_some_and(|it| it > 0));
    let receipt = take("transactionHash");
    let digits = receipt.as_str().and_then(|text| text.strip_prefix("0x"));
    assert!(digits.is_some_and(|digits| digits.len() == 64), "{receipt}");
    assert!(take("wallet").is_string());
    answer
}

#[tokio::test]
async fn sets_are_split_merged_and_redeemed() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let market = &plain_markets()[0];
    let condition = market.condition_id();
    let (yes, no) = (format!("{condition}:0"), format!("{condition}:1"));
    let before = balance(&trader, None, 0).await;

    let answer = ok(trader.split(&sets(&condition, 150, "s")).await);
    assert_eq!(
        moved(answer),
        json!({
            "type": "SPLIT",
            "collateral": "-1.5",
            "shares": [{ "asset": yes, "amount": "1.5" }, { "asset": no, "amount": "1.5" }],
        })
    );
    assert_eq!(shares(&trader, market).await, [1_500_000; 2]);
    assert_eq!(before - balance(&trader, None, 0).await, 1_500_000);

    let answer = ok(trader.merge(&sets(&condition, 51, "m")).await);
    assert_eq!(
        moved(answer),
        json!({
            "type": "MERGE",
            "collateral": "0.51",
            "shares": [{ "asset": yes, "amount": "-0.51" }, { "asset": no, "amount": "-0.51" }],
        })
    );
    assert_eq!(shares(&trader, market).await, [990_000; 2]);

    resolve(&exchange, &condition, "half").await;
    settled(&trader, market).await;
    assert_eq!(balance(&trader, None, 0).await, before);
    // The settlement paid: a redeem that comes later moves nothing.
    nothing_moves(&trader, &condition, "0.99").await;
    assert!(exchange.stop().success());
}

/// A redeem of a settled market moves nothing, and says what was paid before.
async fn nothing_moves(trader: &Trader, condition: &str, paid: &str) {
    let mut answer = ok(trader.redeem(condition, "r").await);
    assert_ne!(answer["transactionHash"], format!("0x{:064}", 0));
    let fields = answer.as_object_mut().expect("an object");
    let before = fields.remove("already_paid").expect("a payment");
    let expected = json!({ "amount": paid, "sequence": answer["sequence"] });
    assert_eq!(before, expected);
    let nothing = json!({ "type": "REDEEM", "collateral": "0", "shares": [] });
    assert_eq!(moved(answer), nothing);
}

#[tokio::test]
async fn both_outcomes_of_a_market_that_ended_even_pay_half() {
    let exchange = Exchange::demo();
    let (trader, other) = (visitor(&exchange, 0).await, visitor(&exchange, 1).await);
    let market = &plain_markets()[0];
    let condition = market.condition_id();
    ok(trader.split(&sets(&condition, 1_001, "s")).await);
    // The other wallet buys the Yes and keeps nothing else.
    let [yes, _] = market.token_ids();
    let token = foretell_ops::trader::token(&yes).expect("a token");
    use foretell_model::Side::{Buy, Sell};
    use foretell_ops::trader::Terms;
    for (who, side) in [(&trader, Sell), (&other, Buy)] {
        place(who, &Terms::limit(token, false, side, 1_001, 5_000)).await;
    }
    let before = balance(&other, None, 0).await;
    resolve(&exchange, &condition, "half").await;
    settled(&other, market).await;
    assert_eq!(balance(&other, None, 0).await - before, 5_005_000);
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn no_of_some_questions_becomes_collateral_and_yes_of_the_others() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let event = neg_risk_event();
    let before = balance(&trader, None, 0).await;
    for (number, market) in event.markets.iter().enumerate().take(2) {
        let condition = market.condition_id();
        let reference = format!("s{number}");
        ok(trader.split(&sets(&condition, 500, &reference)).await);
    }
    let answer = ok(trader.convert(event.id, 0b11, 400, "c").await);
    let (outside, _) = outside_names(EventId(event.id));
    let expected: Vec<_> = event
        .markets
        .iter()
        .enumerate()
        .map(|(index, market)| match index {
            0 | 1 => (format!("{}:1", market.condition_id()), "-4"),
            _ => (format!("{}:0", market.condition_id()), "4"),
        })
        .chain([(format!("{outside}:0"), "4")])
        .map(|(asset, amount)| json!({ "asset": asset, "amount": amount }))
        .collect();
    assert_eq!(
        moved(answer),
        json!({ "type": "CONVERSION", "collateral": "4", "shares": expected })
    );
    // Two splits of 5, and 4 × (2 − 1) back.
    assert_eq!(before - balance(&trader, None, 0).await, 6_000_000);
    assert_eq!(
        shares(&trader, &event.markets[0]).await,
        [5_000_000, 1_000_000]
    );
    assert_eq!(shares(&trader, &event.markets[2]).await, [4_000_000, 0]);
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn a_conversion_names_its_questions_by_condition_or_by_the_shown_index() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let event = neg_risk_event();
    let condition = event.markets[2].condition_id();
    ok(trader.split(&sets(&condition, 500, "s")).await);
    let body = json!({
        "eventId": event.id, "conditionIds": [condition], "amount": "1000000", "reference": "by name",
    });
    let by_name = moved(ok(trader
        .signed(Method::POST, "/positions/convert", "", &body.to_string())
        .await));
    let url = format!("{}/markets/{condition}", exchange.trading);
    let market: Value = (reqwest::get(&url).await.expect("an answer").json().await).expect("JSON");
    let bit = market["question_index"].as_u64().expect("an index");
    let by_bit = moved(ok(trader.convert(event.id, 1 << bit, 100, "by bit").await));
    assert_eq!(by_name, by_bit);
    assert_eq!(
        shares(&trader, &event.markets[2]).await,
        [5_000_000, 3_000_000]
    );
    let twice = json!({
        "eventId": event.id, "conditionIds": [condition, condition], "amount": "10000", "reference": "t",
    });
    let (status, refusal) = trader
        .signed(Method::POST, "/positions/convert", "", &twice.to_string())
        .await
        .expect("an answer");
    let told = refusal["error"].as_str().expect("a text");
    assert!(
        status == 400 && told.contains("each question of the event, once"),
        "{told}"
    );
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn an_answer_is_seen_by_the_next_read_and_names_its_place() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let condition = plain_markets()[0].condition_id();
    let body = json!({ "conditionId": condition, "amount": "10000", "reference": "s" }).to_string();
    let mut request = reqwest::Client::new()
        .post(format!("{}/positions/split", exchange.trading))
        .header("content-type", "application/json");
    for (name, value) in trader.headers("POST", "/positions/split", body.as_bytes()) {
        request = request.header(name, value);
    }
    let response = request.body(body).send().await.expect("an answer");
    let header = |name: &str| response.headers()[name].to_str().expect("text").to_owned();
    let (sequence, epoch) = (header("x-sequence"), header("x-epoch"));
    assert_eq!(epoch, "1");
    assert_eq!(sequence, operator::sequence(&exchange).await.to_string());
    let answer: Value = response.json().await.expect("JSON");
    assert_eq!(answer["sequence"].to_string(), sequence);
    assert!(exchange.stop().success());
}
