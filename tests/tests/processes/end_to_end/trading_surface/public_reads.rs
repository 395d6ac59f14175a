//! Batch reads with GET, and the newest trades of a market.

use foretell_tests::demo::{MARKET, buy, market, visitor};
use foretell_tests::exchange::Exchange;
use reqwest::Method;
use serde_json::json;

use crate::end_to_end::trading_surface::{request, send};

/// An exchange where the first visitor bought the first token from the second, and both rest.
async fn traded() -> Exchange {
    let exchange = Exchange::demo();
    let maker = visitor(&exchange, 0).await;
    let taker = visitor(&exchange, 1).await;
    let [yes, no] = market().token_ids();
    buy(&maker, &no, 1_000, 6_000).await;
    buy(&taker, &yes, 1_000, 4_000).await;
    buy(&maker, &yes, 1_000, 3_000).await;
    buy(&taker, &no, 1_000, 5_500).await;
    exchange
}

#[tokio::test]
async fn a_batch_read_with_get_is_the_one_with_post() {
    let exchange = traded().await;
    let [yes, no] = market().token_ids();
    let both = json!([{ "token_id": yes }, { "token_id": no }]);
    let sides = json!([{ "token_id": yes, "side": "BUY" }, { "token_id": no, "side": "SELL" }]);
    for path in [
        "/books",
        "/prices",
        "/midpoints",
        "/spreads",
        "/last-trades-prices",
    ] {
        for (query, body) in [
            (format!("token_ids={yes},{no}"), &both),
            (format!("token_ids={yes}&token_ids={no}"), &both),
            (format!("token_ids={yes},{no}&sides=BUY,sell"), &sides),
            (format!("token_ids={yes},1,{no}&sides="), &both),
        ] {
            let asked = format!("{path}?{query}");
            let posted = send(request(&exchange, Method::POST, path).json(body)).await;
            let got = send(request(&exchange, Method::GET, &asked)).await;
            assert_eq!((got.status, &got.body), (200, &posted.body), "{asked}");
            let rows = posted.body.as_array().map(Vec::len);
            let rows = rows.or(posted.body.as_object().map(serde_json::Map::len));
            assert_eq!(rows, Some(2), "{path}");
            // A body decides, whatever the query is.
            let with_body = request(&exchange, Method::GET, &format!("{path}?token_ids=x"));
            let got = send(with_body.json(body)).await;
            assert_eq!(
                (got.status, &got.body),
                (200, &posted.body),
                "{path} {body}"
            );
        }
    }
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn a_wrong_query_of_a_batch_is_refused() {
    let exchange = Exchange::demo();
    let many = vec!["1"; 501].join(",");
    for (query, text) in [
        (
            "",
            "token_ids is missing, allowed: token ids with commas between them",
        ),
        (
            "?token_ids=",
            "token_ids is missing, allowed: token ids with commas between them",
        ),
        ("?token_ids=x", "Invalid token id"),
        ("?token_ids=1,2&sides=HOLD,BUY", "Invalid side"),
        (
            "?token_ids=1,2&sides=BUY",
            "sides is '1 for 2 tokens', allowed: one for each token",
        ),
        (
            &format!("?token_ids={many}"),
            "token_ids has 501 entries, allowed: up to 500 tokens",
        ),
    ] {
        for path in ["/books", "/prices"] {
            let got = send(request(&exchange, Method::GET, &format!("{path}{query}"))).await;
            let expected = (400, json!({ "error": text }));
            assert_eq!((got.status, got.body), expected, "{path}{query:.40}");
        }
    }
    let get = request(&exchange, Method::GET, "/prices").json(&json!({ "token_id": "1" }));
    assert_eq!(send(get).await.status, 400, "a body that is no array");
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn a_market_shows_its_newest_trades_to_everyone() {
    let exchange = traded().await;
    let [yes, _] = market().token_ids();
    let books = send(request(
        &exchange,
        Method::GET,
        &format!("/book?token_id={yes}"),
    ))
    .await;
    let market = books.body["market"].as_str().expect("a market").to_owned();
    for path in ["/live-activity/events", "/markets/live-activity"] {
        let seen = send(request(&exchange, Method::GET, &format!("{path}/{market}"))).await;
        assert_eq!(seen.status, 200, "{}", seen.body);
        assert!(seen.sequence.is_some(), "{path}");
        let rows = seen.body.as_array().expect("an array");
        assert_eq!(rows.len(), 1, "{}", seen.body);
        let event = &rows[0];
        assert_eq!(event["event_type"], "trade");
        assert_eq!(event["market"]["condition_id"], market.as_str());
        assert_eq!(event["market"]["asset_id"], yes.as_str());
        assert_eq!(event["market"]["slug"], MARKET);
        assert_eq!(
            [&event["side"], &event["size"], &event["price"]],
            ["BUY", "10", "0.4"]
        );
        assert_eq!(event["outcome_index"], 0);
        assert_ne!(event["user"]["pseudonym"], "");
        assert!(
            event["timestamp"]
                .as_str()
                .is_some_and(|text| text.len() == 10)
        );
        for id in ["x".to_owned(), format!("0x{}", "12".repeat(32))] {
            let seen = send(request(&exchange, Method::GET, &format!("{path}/{id}"))).await;
            assert_eq!(seen.status, 404, "{path}/{id}: {}", seen.body);
        }
    }
    assert!(exchange.stop().success());
}
