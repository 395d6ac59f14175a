//! Valid requests used by an attacker: repeated, sent to another path, altered outside of the
//! signed part, and in large numbers.

use foretell_model::{Side, TimeMs};
use foretell_ops::trader::{SignedOrder, decimal};
use foretell_tests::demo::{Demo, visitor};
use reqwest::Method;
use serde_json::{Value, json};

use crate::end_to_end::bad_input::signatures::{malleated, signature, signed_with};
use crate::end_to_end::bad_input::{send, state, valid};

/// Default number of orders that a key may place in ten seconds.
const ORDER_BURST: u32 = 2_400;

async fn placed(site: &Demo) -> SignedOrder {
    let order = valid(site);
    let (status, answer) = site.trader.place(&order).await.expect("an answer");
    assert_eq!(status, 200, "{answer}");
    order
}

/// Ids of the trader's live orders.
async fn open(site: &Demo) -> Vec<String> {
    let (status, answer) = site.own("/data/orders", "").await;
    assert_eq!(status, 200, "{answer}");
    let rows = answer["data"].as_array().expect("rows").iter();
    rows.map(|row| row["id"].as_str().expect("an id").to_owned())
        .collect()
}

#[tokio::test]
async fn what_a_captured_request_does() {
    let site = Demo::start().await;
    let order = valid(&site);
    let body = order.body.to_string().into_bytes();
    let headers = site.trader.headers("POST", "/order", &body);
    let place = async || send(&site, Method::POST, "/order", &headers, &body).await;
    let (status, first) = place().await;
    assert_eq!((status, &first["status"]), (200, &json!("live")), "{first}");
    let before = state(&site).await;
    let (status, again) = place().await;
    assert_eq!((status, &again["duplicate"]), (200, &json!(true)));
    assert_eq!(again["orderID"], first["orderID"]);
    assert_eq!(state(&site).await, before);

    // A cancel of one order ends it once, and a repeat does not restore it.
    let named = json!({ "orderID": order.id.to_string() })
        .to_string()
        .into_bytes();
    let headers = site.trader.headers("DELETE", "/order", &named);
    let cancel = async || send(&site, Method::DELETE, "/order", &headers, &named).await;
    assert_eq!(
        cancel().await.1["canceled"],
        json!([order.id.to_string()]),
        "the first time"
    );
    let before = state(&site).await;
    assert_eq!(cancel().await.1["canceled"], json!([]), "the second time");
    let (status, again) = place().await;
    assert_eq!((status, &again["duplicate"]), (200, &json!(true)));
    assert_eq!(state(&site).await, before);

    // A cancel of all orders acts every time: a kill switch must not skip orders because it was
    // used before.
    let token = valid(&site).body["order"]["tokenId"].clone();
    let market = json!({ "asset_id": token }).to_string();
    for (path, body) in [("/cancel-all", ""), ("/cancel-market-orders", &market)] {
        let old = placed(&site).await;
        let headers = site.trader.headers("DELETE", path, body.as_bytes());
        let all = async || {
            let sent = send(&site, Method::DELETE, path, &headers, body.as_bytes());
            sent.await.1
        };
        let first = all().await;
        let canceled = json!([old.id.to_string()]);
        assert_eq!(first, json!({ "canceled": canceled, "not_canceled": {} }));
        let new = placed(&site).await;
        let canceled = json!([new.id.to_string()]);
        assert_eq!(
            all().await,
            json!({ "canceled": canceled, "not_canceled": {} })
        );
        assert!(open(&site).await.is_empty());

        // A cancel without effect reports that and leaves no frame.
        let before = state(&site).await;
        assert_eq!(all().await, json!({ "canceled": [], "not_canceled": {} }));
        assert_eq!(state(&site).await, before);
    }

    // The creation of a read-only key returns the same key again.
    let path = "/auth/readonly-api-key";
    let headers = site.trader.headers("POST", path, b"");
    let make = async || send(&site, Method::POST, path, &headers, b"").await;
    let first = make().await;
    assert_eq!(first.0, 200, "{}", first.1);
    let before = state(&site).await;
    assert_eq!(make().await, first);
    assert_eq!(state(&site).await, before);
    assert!(site.exchange.stop().success());
}

/// The HMAC does not cover the query, so no write may depend on the query.
#[tokio::test]
async fn a_changed_query_changes_nothing_of_what_is_written() {
    let site = Demo::start().await;
    let order = valid(&site);
    let query = "?orderType=FOK&owner=x&side=SELL&postOnly=true&makerAmount=1";
    let body = order.body.to_string();
    let sent = site.trader.signed(Method::POST, "/order", query, &body);
    let (status, answer) = sent.await.expect("an answer");
    assert_eq!(
        (status, &answer["status"]),
        (200, &json!("live")),
        "{answer}"
    );
    let read = (site.trader).signed(Method::GET, "/data/orders", "", "");
    let row = &read.await.expect("an answer").1["data"][0];
    assert_eq!(
        (&row["id"], &row["order_type"], &row["side"]),
        (&json!(order.id.to_string()), &json!("GTC"), &json!("BUY"))
    );
    let second = placed(&site).await;
    // Signed for one order, with another in the query.
    let named = json!({ "orderID": order.id.to_string() }).to_string();
    let query = format!("?orderID={}&all=true", second.id);
    let sent = site
        .trader
        .signed(Method::DELETE, "/order", &query, &named)
        .await;
    let (status, answer) = sent.expect("an answer");
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["canceled"], json!([order.id.to_string()]));
    assert_eq!(open(&site).await, [second.id.to_string()]);
    assert!(site.exchange.stop().success());
}

#[tokio::test]
async fn a_twin_of_an_accepted_order_is_that_order_or_none() {
    let site = Demo::start().await;
    let order = placed(&site).await;
    let before = state(&site).await;
    let good = signature(&order);
    let send = async |signature: &[u8]| {
        let body = signed_with(&order, signature);
        let sent = site.trader.signed(Method::POST, "/order", "", &body).await;
        sent.expect("an answer")
    };
    let (status, answer) = send(&malleated(&good)).await;
    assert_eq!(status, 400, "{answer}");
    let error = answer["error"].as_str().unwrap_or_default();
    assert!(error.contains("invalid signature"), "{error}");
    let mut spelled = good;
    spelled[64] -= 27;
    let (status, answer) = send(&spelled).await;
    assert_eq!((status, &answer["duplicate"]), (200, &json!(true)));
    assert_eq!(answer["orderID"], order.id.to_string());
    assert_eq!(state(&site).await, before);

    // A salt is not an identity: with other amounts it is another order.
    let now = order.body["order"]["timestamp"].as_str().expect("a time");
    let now = TimeMs(now.parse().expect("digits"));
    let mut ids = vec![order.id.to_string()];
    for lots in [1_000, 1_100] {
        let terms = site.limit(Side::Buy, lots, 2_000);
        let signed = site.trader.sign_exactly(&terms, 77, now);
        let (status, answer) = site
            .trader
            .place(&signed.expect("a signature"))
            .await
            .expect("an answer");
        assert_eq!(
            (status, &answer["status"]),
            (200, &json!("live")),
            "{answer}"
        );
        ids.push(answer["orderID"].as_str().expect("an id").to_owned());
    }
    let mut open = open(&site).await;
    open.sort_unstable();
    ids.sort_unstable();
    assert_eq!(open, ids);
    assert!(site.exchange.stop().success());
}

/// Every request has a valid HMAC and costs a signature recovery; reads continue and nothing is
/// written.
#[tokio::test]
async fn garbage_signatures_of_a_valid_key_change_nothing_and_reads_go_on() {
    const CLIENTS: u32 = 8;
    let site = Demo::start().await;
    let order = valid(&site);
    let before = state(&site).await;
    let mut clients = Vec::new();
    for client in 0..CLIENTS {
        let trader = visitor(&site.exchange, 0).await;
        let (order, good) = (order.clone(), signature(&order));
        clients.push(tokio::spawn(async move {
            for number in 0..ORDER_BURST / CLIENTS {
                let mut garbage = good.clone();
                for (byte, other) in garbage[8..].iter_mut().zip(number.to_be_bytes()) {
                    *byte ^= other;
                }
                garbage[4] ^= 1 + u8::try_from(client).expect("few");
                let body = signed_with(&order, &garbage);
                let sent = trader.signed(Method::POST, "/order", "", &body).await;
                let (status, answer) = sent.expect("an answer");
                assert_eq!(status, 400, "{answer}");
            }
        }));
    }
    let book = format!("/book?token_id={}", decimal(site.yes()));
    let mut reads = 0;
    while reads == 0 || clients.iter().any(|client| !client.is_finished()) {
        let (status, answer): (u16, Value) = site.other.get(&book).await.expect("an answer");
        assert_eq!(status, 200, "{answer}");
        reads += 1;
    }
    for client in clients {
        client.await.expect("every order was refused");
    }
    assert_eq!(state(&site).await, before);
    assert!(site.exchange.stop().success());
}
