//! Clients that race over two gateways: an order executes once for any number of sends, money is
//! spent once, and an order is either filled or cancelled (promises 10, 16, 18).

use std::collections::BTreeSet;
use std::sync::Arc;

use foretell_model::{Side, TokenId};
use foretell_ops::trader::{Terms, Trader, token};
use foretell_tests::demo::{market, place, visitor};
use foretell_tests::exchange::{Exchange, Options};
use reqwest::Method;
use serde_json::{Value, json};

/// Number of racing connections; the kernel distributes them over both gateways.
const RACERS: usize = 16;
/// Several connections of one wallet.
async fn racers(exchange: &Exchange) -> Vec<Arc<Trader>> {
    let mut traders = Vec::new();
    for _ in 0..RACERS {
        traders.push(Arc::new(visitor(exchange, 0).await));
    }
    traders
}

fn start() -> (Exchange, [TokenId; 2]) {
    let exchange = Exchange::start(&Options::two_gateways());
    let tokens = market().token_ids();
    (exchange, tokens.map(|text| token(&text).expect("a token")))
}

async fn race(traders: &[Arc<Trader>], body: impl Fn(usize) -> String) -> Vec<(u16, Value)> {
    let sent: Vec<_> = traders
        .iter()
        .enumerate()
        .map(|(index, trader)| {
            let (trader, body) = (Arc::clone(trader), body(index));
            tokio::spawn(async move { trader.signed(Method::POST, "/order", "", &body).await })
        })
        .collect();
    let mut answers = Vec::new();
    for answer in sent {
        answers.push(answer.await.expect("no panic").expect("an answer"));
    }
    answers
}

#[tokio::test]
async fn one_order_sent_many_times_at_once_executes_once() {
    let (exchange, [token, _]) = start();
    let traders = racers(&exchange).await;
    for round in 0..8_u16 {
        let order = traders[0]
            .sign(&Terms::limit(
                token,
                false,
                Side::Buy,
                1_000,
                1_000 + 100 * round,
            ))
            .expect("a signature");
        let answers = race(&traders, |_| order.body.to_string()).await;
        let first = answers
            .iter()
            .filter(|(_, answer)| answer["duplicate"] != true)
            .count();
        assert_eq!(first, 1, "{answers:?}");
        for (status, answer) in &answers {
            assert_eq!(
                (*status, &answer["orderID"]),
                (200, &Value::from(order.id.to_string())),
                "{answer}"
            );
        }
    }
    let (_, open) = traders[1]
        .signed(Method::GET, "/data/orders", "", "")
        .await
        .expect("an answer");
    assert_eq!(open["count"], 8, "{open}");
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn the_same_money_is_spent_once() {
    let (exchange, [token, _]) = start();
    let traders = racers(&exchange).await;
    // Each reserves 900 of the 10,000: eleven fit.
    let bodies: Vec<String> = traders
        .iter()
        .map(|trader| trader.sign(&Terms::limit(token, false, Side::Buy, 300_000, 3_000)))
        .map(|order| order.expect("a signature").body.to_string())
        .collect();
    let answers = race(&traders, |index| bodies[index].clone()).await;
    let taken: BTreeSet<_> = answers
        .iter()
        .filter(|(status, _)| *status == 200)
        .map(|(_, answer)| answer["orderID"].to_string())
        .collect();
    assert_eq!(taken.len(), 11, "{answers:?}");
    for (status, answer) in answers.iter().filter(|(status, _)| *status != 200) {
        let error = answer["error"].as_str().expect("a text");
        assert!(
            *status == 400 && error.contains("not enough balance / allowance"),
            "{status} {answer}"
        );
    }
    let query = "?asset_type=COLLATERAL&signature_type=0";
    let (_, balance) = traders[0]
        .signed(Method::GET, "/balance-allowance", query, "")
        .await
        .expect("an answer");
    assert_eq!(balance["available"], "100000000", "{balance}");
    assert_eq!(balance["balance"], "10000000000", "{balance}");
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn an_order_is_filled_or_cancelled_never_both() {
    let (exchange, [yes, no]) = start();
    let mut traders = racers(&exchange).await.into_iter();
    let (maker, canceller) = (traders.next().expect("many"), traders.next().expect("many"));
    let taker = Arc::new(visitor(&exchange, 1).await);
    for round in 0..RACERS {
        let bid = place(&maker, &Terms::limit(yes, false, Side::Buy, 1_000, 6_000)).await;
        let take = Terms {
            order_type: "FOK",
            ..Terms::limit(no, false, Side::Buy, 1_000, 4_000)
        };
        let take = taker.sign(&take).expect("a signature").body.to_string();
        let cancel = json!({ "orderID": bid }).to_string();
        let taken = {
            let taker = Arc::clone(&taker);
            tokio::spawn(async move { taker.signed(Method::POST, "/order", "", &take).await })
        };
        // Alternate the request that is sent first.
        if round % 2 == 0 {
            tokio::task::yield_now().await;
        }
        let (_, cancelled) = canceller
            .signed(Method::DELETE, "/order", "", &cancel)
            .await
            .expect("an answer");
        let (status, taken) = taken.await.expect("no panic").expect("an answer");
        let was_filled = status == 200 && taken["status"] == "matched";
        let was_cancelled = cancelled["canceled"] == json!([bid]);
        assert!(was_filled != was_cancelled, "{taken} {cancelled}");
        assert!(was_filled || status == 400, "{status} {taken}");
    }
    assert!(exchange.stop().success());
}
