//! Books recorded from a venue of this API family: placed in the exchange as resting orders, they
//! read back with the same levels, on both outcomes.

use foretell_model::Side;
use foretell_ops::trader::{SignedOrder, Terms, Trader, token};
use foretell_tests::demo::visitor;
use foretell_tests::exchange::Exchange;
use foretell_tests::operator;
use serde_json::{Value, json};

const EVENT: u64 = 77;
const PRICE_ONE: u16 = 10_000;
/// Orders of one request.
const BATCH: usize = 15;

#[tokio::test]
async fn recorded_books_come_back_level_for_level() {
    let Some(path) = foretell_fixtures::recorded("clob/fed-june-clob-books.json") else {
        return;
    };
    let text = std::fs::read_to_string(path).expect("a file");
    let books: Vec<Value> = serde_json::from_str(&text).expect("recorded JSON");
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    fund(&exchange, &trader).await;

    let event = json!({ "event_id": EVENT, "slug": "fed-june", "title": "Fed decision in June" });
    operator::done(&exchange, "/events", &event).await;
    // Both books of a market are adjacent, Yes first.
    let markets: Vec<&[Value]> = books.chunks(2).collect();
    for market in &markets {
        operator::done(&exchange, "/markets", &registration(market)).await;
    }
    for market in &markets {
        let condition = json!({ "condition_id": market[0]["market"] });
        operator::done(&exchange, "/markets/activate", &condition).await;
        for orders in resting(&trader, market).chunks(BATCH) {
            let (status, results) = trader.place_all(orders).await.expect("an answer");
            assert_eq!(status, 200, "{results}");
            let all = results.as_array().expect("results");
            assert!(
                all.iter().all(|result| result["status"] == "live"),
                "{results}"
            );
        }
    }

    for recorded in &books {
        let path = format!(
            "/book?token_id={}",
            recorded["asset_id"].as_str().expect("a token")
        );
        let (status, book) = trader.get(&path).await.expect("an answer");
        assert_eq!(status, 200, "{book}");
        for part in ["market", "asset_id", "tick_size", "neg_risk"] {
            assert_eq!(book[part], recorded[part], "{part}");
        }
        for side in ["bids", "asks"] {
            assert_eq!(
                levels(&book[side]),
                levels(&recorded[side]),
                "{side} of {path}"
            );
        }
    }
}

async fn fund(exchange: &Exchange, trader: &Trader) {
    let deposit = json!({
        "wallet": trader.address(), "amount": "500000000", "reference": "recorded books",
    });
    operator::done(exchange, "/accounts/deposit", &deposit).await;
}

fn registration(market: &[Value]) -> Value {
    let [yes, no] = market else {
        panic!("a book without its twin");
    };
    assert_eq!(yes["market"], no["market"]);
    json!({
        "condition_id": yes["market"], "token_ids": [yes["asset_id"], no["asset_id"]],
        "tick_size": yes["tick_size"], "minimum_order_size": "0.01", "event_id": EVENT,
        "question": "A recorded market", "slug": yes["market"],
    })
}

/// One order a level: bids buy Yes, asks buy No at the complement.
fn resting(trader: &Trader, market: &[Value]) -> Vec<SignedOrder> {
    let tokens = [0, 1].map(|outcome: usize| {
        token(market[outcome]["asset_id"].as_str().expect("text")).expect("a token")
    });
    let mut orders = Vec::new();
    for (side, token) in ["bids", "asks"].into_iter().zip(tokens) {
        for (price, lots) in levels(&market[0][side]) {
            let price = if side == "bids" {
                price
            } else {
                PRICE_ONE - price
            };
            let terms = Terms::limit(token, true, Side::Buy, lots, price);
            orders.push(trader.sign(&terms).expect("a signature"));
        }
    }
    orders
}

/// Prices in 0.0001 and sizes in lots, in file order: as numbers, because trailing zeros differ.
fn levels(side: &Value) -> Vec<(u16, u64)> {
    let levels = side.as_array().expect("levels");
    levels
        .iter()
        .map(|level| {
            let price = scaled(&level["price"], 4);
            (
                u16::try_from(price).expect("a price"),
                scaled(&level["size"], 2),
            )
        })
        .collect()
}

/// A decimal text in units of 10^-`places`.
fn scaled(text: &Value, places: usize) -> u64 {
    let text = text.as_str().expect("text");
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    assert!(part.len() <= places, "{text}");
    let digits = format!("{whole}{part:0<places$}");
    digits.parse().expect("digits")
}
