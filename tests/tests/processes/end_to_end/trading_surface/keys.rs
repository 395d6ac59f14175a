//! Read-only keys: permitted and forbidden requests, and revocation. A revoked key is rejected from
//! the response on.

use foretell_ops::demo::wallets::VISITORS;
use foretell_ops::trader::Trader;
use foretell_tests::demo::{visitor, visitor_with};
use foretell_tests::exchange::Exchange;
use reqwest::Method;
use serde_json::{Value, json};

use crate::end_to_end::trading_surface::{Answered, request, send};

async fn with_read_only(
    exchange: &Exchange,
    owner: &Trader,
    key: &Value,
    method: Method,
    path: &str,
) -> Answered {
    let key = key.as_str().expect("a key");
    let request = request(exchange, method, path)
        .header("SERVICE_ADDRESS", owner.address())
        .header("SERVICE_READONLY_API_KEY", key);
    send(request).await
}

async fn signed(trader: &Trader, method: Method, path: &str, body: &Value) -> (u16, Value) {
    let body = match body {
        Value::Null => String::new(),
        body => body.to_string(),
    };
    let answer = trader.signed(method, path, "", &body).await;
    answer.expect("an answer")
}

#[tokio::test]
async fn a_read_only_key_reads_and_never_shows_keys() {
    let exchange = Exchange::demo();
    let (owner, other) = (visitor(&exchange, 0).await, visitor(&exchange, 1).await);
    let create = "/auth/readonly-api-key";
    let (status, made) = signed(&owner, Method::POST, create, &Value::Null).await;
    assert_eq!(status, 200, "{made}");
    let key = &made["apiKey"];
    for (method, path, allowed) in [
        (Method::GET, "/data/orders", true),
        (Method::GET, "/data/trades", true),
        (
            Method::GET,
            "/balance-allowance?asset_type=COLLATERAL",
            true,
        ),
        (Method::GET, "/auth/ban-status/closed-only", true),
        // The name of a read-only key is its only secret, so the list needs a full key.
        (Method::GET, "/auth/readonly-api-keys", false),
        (Method::GET, "/auth/api-keys", false),
        (Method::DELETE, "/auth/api-key", false),
        (Method::POST, create, false),
        (Method::DELETE, "/cancel-all", false),
        (Method::POST, "/heartbeats", false),
    ] {
        let answered = with_read_only(&exchange, &owner, key, method, path).await;
        let expected = if allowed { 200 } else { 401 };
        assert_eq!(answered.status, expected, "{path}: {}", answered.body);
    }
    let foreign = with_read_only(&exchange, &other, key, Method::GET, "/data/orders").await;
    assert_eq!(foreign.status, 401, "the key of another address");

    let (_, listed) = signed(&owner, Method::GET, "/auth/readonly-api-keys", &Value::Null).await;
    assert_eq!(listed, json!([key]));
    let named = json!({ "key": key });
    let (status, _) = signed(&other, Method::DELETE, create, &named).await;
    assert_eq!(status, 404, "the key of another owner");
    for again in [false, true] {
        let (status, answer) = signed(&owner, Method::DELETE, create, &named).await;
        let expected = (200, json!({ "deleted": true }));
        assert_eq!((status, answer), expected, "again: {again}");
        let gone = with_read_only(&exchange, &owner, key, Method::GET, "/data/orders").await;
        assert_eq!(gone.status, 401);
    }
    assert!(exchange.stop().success());
}

/// A thief who made read-only keys with a stolen key loses them, too.
#[tokio::test]
async fn all_keys_of_an_owner_end_at_once() {
    let exchange = Exchange::demo();
    let (first, second) = (
        visitor(&exchange, 0).await,
        visitor_with(&exchange, 0, 1).await,
    );
    let other = visitor(&exchange, 1).await;
    let create = "/auth/readonly-api-key";
    let (status, made) = signed(&first, Method::POST, create, &Value::Null).await;
    assert_eq!(status, 200, "{made}");
    let path = "/auth/api-keys";
    let (status, answer) = signed(&second, Method::DELETE, path, &Value::Null).await;
    assert_eq!(
        (status, answer),
        (200, json!({ "revoked": true, "keys": 3 }))
    );
    let read = with_read_only(
        &exchange,
        &first,
        &made["apiKey"],
        Method::GET,
        "/data/orders",
    );
    assert_eq!(read.await.status, 401);
    for (trader, expected) in [(&first, 401), (&second, 401), (&other, 200)] {
        let (status, _) = signed(trader, Method::GET, "/data/orders", &Value::Null).await;
        assert_eq!(status, expected);
    }
    assert!(exchange.stop().success());
}

/// One revocation of the stolen key ends what the thief made with it.
#[tokio::test]
async fn a_read_only_key_ends_with_the_key_that_made_it() {
    let exchange = Exchange::demo();
    let (stolen, own) = (
        visitor(&exchange, 0).await,
        visitor_with(&exchange, 0, 1).await,
    );
    let create = "/auth/readonly-api-key";
    let (_, of_stolen) = signed(&stolen, Method::POST, create, &Value::Null).await;
    let (_, of_own) = signed(&own, Method::POST, create, &Value::Null).await;
    let (status, _) = signed(&stolen, Method::DELETE, "/auth/api-key", &Value::Null).await;
    assert_eq!(status, 200);
    for (made, expected) in [(&of_stolen, 401), (&of_own, 200)] {
        let key = &made["apiKey"];
        let read = with_read_only(&exchange, &own, key, Method::GET, "/data/orders").await;
        assert_eq!(read.status, expected, "{}", read.body);
    }
    let (_, listed) = signed(&own, Method::GET, "/auth/readonly-api-keys", &Value::Null).await;
    assert_eq!(listed, json!([of_own["apiKey"]]));
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn a_revoked_key_opens_nothing_from_the_answer_on() {
    let exchange = Exchange::demo();
    for nonce in 1..=5 {
        let trader = visitor_with(&exchange, 0, nonce).await;
        let (status, answer) = signed(&trader, Method::DELETE, "/auth/api-key", &Value::Null).await;
        assert_eq!((status, answer), (200, json!({ "revoked": true })));
        let (status, answer) = signed(&trader, Method::DELETE, "/cancel-all", &Value::Null).await;
        assert_eq!(status, 401, "nonce {nonce}: {answer}");
        // Its owner cannot restore it either, with an old or a new statement.
        let again = Trader::connect(&exchange.trading, VISITORS[0].private_key, nonce).await;
        let refused = again.err().expect("no key").to_string();
        assert!(refused.contains("nonce revoked"), "{refused}");
    }
    assert!(exchange.stop().success());
}
