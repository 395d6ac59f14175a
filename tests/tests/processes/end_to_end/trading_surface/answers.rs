//! Parts of every response: its sequence, the fields of a result, the requested sides.

use foretell_tests::demo::{buy, market, visitor};
use foretell_tests::exchange::Exchange;
use reqwest::Method;
use serde_json::{Value, json};

use crate::end_to_end::trading_surface::{request, send};

#[tokio::test]
async fn every_answer_says_where_it_stands() {
    let exchange = Exchange::demo();
    let [yes, _] = market().token_ids();
    let unknown = format!("/data/order/0x{}", "11".repeat(32));
    for (path, status) in [
        ("/", 200),
        ("/time", 200),
        ("/version", 200),
        ("/markets", 200),
        (format!("/book?token_id={yes}").as_str(), 200),
        (format!("/midpoint?token_id={yes}").as_str(), 404),
        ("/book?token_id=1", 404),
        ("/book", 400),
        ("/markets/0x12", 404),
        (unknown.as_str(), 401),
    ] {
        let answered = send(request(&exchange, Method::GET, path)).await;
        assert_eq!(answered.status, status, "{path}: {}", answered.body);
        let sequence = answered.sequence;
        assert!(sequence.is_some_and(|it| it > 0), "{path}: {sequence:?}");
    }
    for (method, path, status) in [
        (Method::POST, "/books", 400),
        (Method::POST, "/order", 401),
        (Method::DELETE, "/cancel-all", 401),
        (Method::PUT, "/order", 405),
        (Method::GET, "/nowhere", 404),
    ] {
        let answered = send(request(&exchange, method, path)).await;
        assert_eq!(answered.status, status, "{path}: {}", answered.body);
        assert!(answered.sequence.is_some(), "{path}");
    }
    let trader = visitor(&exchange, 0).await;
    for status in [200, 400] {
        let body = r#"{"heartbeat_id":""}"#;
        let body = if status == 200 {
            body
        } else {
            r#"{"heartbeat_id":"x"}"#
        };
        let mut beat = request(&exchange, Method::POST, "/heartbeats").body(body);
        for (name, value) in trader.headers("POST", "/heartbeats", body.as_bytes()) {
            beat = beat.header(name, value);
        }
        let answered = send(beat).await;
        assert_eq!(answered.status, status, "{}", answered.body);
        assert!(answered.sequence.is_some(), "a heartbeat");
    }
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn what_is_not_supported_says_so_by_every_method() {
    let exchange = Exchange::demo();
    for path in ["/rewards/user", "/rfq/quote", "/auth/builder-api-key"] {
        for method in [Method::GET, Method::POST, Method::PUT, Method::DELETE] {
            let answered = send(request(&exchange, method.clone(), path).json(&json!({}))).await;
            let expected = (404, json!({ "error": "not supported" }));
            assert_eq!(
                (answered.status, answered.body),
                expected,
                "{method} {path}"
            );
        }
    }
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn a_body_that_is_no_order_is_answered_as_a_refused_order() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    for body in ["{", "7", "{}", r#"{"order":{}}"#] {
        let answer = trader.signed(Method::POST, "/order", "", body).await;
        let (status, answer) = answer.expect("an answer");
        assert_eq!(status, 400, "{body}: {answer}");
        let told = ["success", "status", "orderID"].map(|field| &answer[field]);
        assert_eq!(told, [&json!(false), &json!(""), &json!("")], "{body}");
        assert_eq!(answer["errorMsg"], answer["error"], "{body}");
        assert!(answer["error"].is_string(), "{body}");
    }
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn a_book_has_the_sides_asked_for_however_often_it_is_asked() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let [yes, no] = market().token_ids();
    for (token, price) in [(&yes, 2_000), (&no, 3_000)] {
        buy(&trader, token, 1_000, price).await;
    }
    let bids = json!([{ "price": "0.2", "size": "10" }]);
    let asks = json!([{ "price": "0.7", "size": "10" }]);
    let none = json!([]);
    for (side, expected) in [
        (json!("BUY"), [&bids, &none]),
        (Value::Null, [&bids, &asks]),
        (json!("sell"), [&none, &asks]),
        (json!("BUY"), [&bids, &none]),
        (json!(""), [&bids, &asks]),
    ] {
        let body = json!([{ "token_id": yes, "side": side }]);
        let answered = send(request(&exchange, Method::POST, "/books").json(&body)).await;
        let book = &answered.body[0];
        assert_eq!([&book["bids"], &book["asks"]], expected, "side {side}");
    }
    assert!(exchange.stop().success());
}
