//! Rate limits of a key's writes over the whole exchange: counted, rejected and exempt requests.

use foretell_model::Side;
use foretell_ops::trader::{Terms, Trader, token};
use foretell_tests::demo::{market, visitor};
use foretell_tests::exchange::{Exchange, Options};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::end_to_end::trading_surface::request;

/// An exchange where a key may place 20 orders and cancel 4 in 10 seconds.
fn strict(gateways: u32) -> Exchange {
    let options = Options {
        gateways,
        ..Options::demo()
    };
    let options = options
        .with("FORETELL_LIMITS_ENABLED", "true")
        .with("FORETELL_LIMITS_ORDER_BURST", "20")
        .with("FORETELL_LIMITS_CANCEL_BURST", "4");
    Exchange::start(&options)
}

fn orders(trader: &Trader, count: usize) -> Vec<Value> {
    let [yes, _] = market().token_ids();
    let token = token(&yes).expect("a token");
    let terms = Terms::limit(token, false, Side::Buy, 1_000, 1_000);
    let sign = |_| trader.sign(&terms).expect("a signature").body;
    (0..count).map(sign).collect()
}

async fn write(
    exchange: &Exchange,
    trader: &Trader,
    method: Method,
    path: &str,
    body: &Value,
) -> Response {
    let body = body.to_string();
    let headers = trader.headers(method.as_str(), path, body.as_bytes());
    let request = request(exchange, method, path).body(body);
    let request = headers.into_iter().fold(request, |request, (name, value)| {
        request.header(name, value)
    });
    request.send().await.expect("an answer")
}

/// Status and remaining requests of the window.
fn told(response: &Response) -> (u16, Option<u32>) {
    let remaining = response.headers().get("ratelimit-remaining");
    let remaining = remaining.and_then(|value| value.to_str().ok()?.parse().ok());
    (response.status().as_u16(), remaining)
}

#[tokio::test]
async fn a_key_is_held_to_its_orders_and_its_cancels() {
    let exchange = strict(1);
    let (trader, other) = (visitor(&exchange, 0).await, visitor(&exchange, 1).await);
    let place = async |trader: &Trader, count| {
        let body = json!(orders(trader, count));
        write(&exchange, trader, Method::POST, "/orders", &body).await
    };
    assert_eq!(told(&place(&trader, 15).await), (200, Some(5)));
    let refused = place(&trader, 6).await;
    assert_eq!(told(&refused), (429, Some(0)));
    for name in ["retry-after", "ratelimit-reset", "x-sequence"] {
        assert!(refused.headers().contains_key(name), "{name}");
    }
    let text = refused.text().await.expect("a body");
    let expected = "{\"error\":\"rate limit exceeded: order_burst, allowed: 20 in 10 s, retry in ";
    assert!(text.starts_with(expected), "{text}");
    // A single order counts in the same window; a rejected one does not.
    for left in [4, 3] {
        let order = &orders(&trader, 1)[0];
        let placed = write(&exchange, &trader, Method::POST, "/order", order).await;
        assert_eq!(told(&placed), (200, Some(left)));
    }
    assert_eq!(told(&place(&trader, 3).await), (200, Some(0)));
    let order = &orders(&trader, 1)[0];
    let refused = write(&exchange, &trader, Method::POST, "/order", order).await;
    assert_eq!(told(&refused).0, 429);
    // A request without a valid signature uses no order of any key: the key is another, the HMAC
    // its owner's.
    let order = &orders(&other, 1)[0];
    for _ in 0..30 {
        let body = order.to_string();
        let mut headers = trader.headers("POST", "/order", body.as_bytes());
        for (name, value) in &mut headers {
            if name == "SERVICE_API_KEY" {
                *value = other.api_key().to_owned();
            }
        }
        let request = request(&exchange, Method::POST, "/order").body(body);
        let request = headers.into_iter().fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        assert_eq!(request.send().await.expect("an answer").status(), 401);
    }
    assert_eq!(told(&place(&other, 15).await), (200, Some(5)));

    let cancel = async |path: &str, body: Value| {
        told(&write(&exchange, &trader, Method::DELETE, path, &body).await)
    };
    let nobody = |digit: &str| format!("0x{}", digit.repeat(64));
    assert_eq!(
        cancel("/order", json!({ "orderID": nobody("1") })).await,
        (200, Some(3))
    );
    let two = json!([nobody("1"), nobody("2")]);
    assert_eq!(cancel("/orders", two.clone()).await, (200, Some(1)));
    assert_eq!(cancel("/orders", two).await, (429, Some(0)));
    assert_eq!(cancel("/cancel-all", json!({})).await, (200, Some(0)));
    for (path, body) in [
        ("/cancel-all", json!({ "again": 1 })),
        (
            "/cancel-market-orders",
            json!({ "asset_id": market().token_ids()[0] }),
        ),
        ("/order", json!({ "orderID": nobody("1") })),
    ] {
        assert_eq!(cancel(path, body).await, (429, Some(0)), "{path}");
    }
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn the_header_names_the_window_that_is_full_first() {
    let exchange = strict(1);
    let trader = visitor(&exchange, 0).await;
    let order = &orders(&trader, 1)[0];
    let placed = write(&exchange, &trader, Method::POST, "/order", order).await;
    assert_eq!(told(&placed), (200, Some(19)));
    // A rejection says the same: of the gateway, and of the exchange.
    let mut unsigned = order.clone();
    unsigned["order"]["signature"] = json!("0x00");
    let mut off_grid = orders(&trader, 1)[0].clone();
    off_grid["orderType"] = json!("FOK");
    for (order, left) in [(&unsigned, 18), (&off_grid, 17)] {
        let refused = write(&exchange, &trader, Method::POST, "/order", order).await;
        assert_eq!(told(&refused), (400, Some(left)));
        assert!(refused.headers().contains_key("x-sequence"));
    }
    // Four cancels are left, of seventeen orders.
    let nobody = format!("0x{}", "1".repeat(64));
    let both = json!({ "cancel": [nobody], "place": orders(&trader, 1) });
    let replaced = write(&exchange, &trader, Method::POST, "/replace", &both).await;
    assert_eq!(told(&replaced), (200, Some(3)));
    assert_eq!(replaced.headers()["ratelimit-limit"], "4");
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn gateways_hold_a_part_of_the_limits_each() {
    let exchange = strict(3);
    let trader = visitor(&exchange, 0).await;
    let body = json!(orders(&trader, 1)[0]);
    let placed = write(&exchange, &trader, Method::POST, "/order", &body).await;
    assert_eq!(told(&placed), (200, Some(6)), "20 over 3, rounded up");
    assert_eq!(placed.headers()["ratelimit-limit"], "7");
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn lists_of_markets_share_a_cap_that_books_do_not_move() {
    let options = Options::demo()
        .with("FORETELL_LIMITS_ENABLED", "true")
        .with("FORETELL_LIMITS_MARKET_LISTS", "5");
    let exchange = Exchange::start(&options);
    let get = async |path: &str| {
        let request = request(&exchange, Method::GET, path);
        request.send().await.expect("an answer")
    };
    let lists = [
        "/markets",
        "/simplified-markets",
        "/sampling-markets",
        "/sampling-simplified-markets",
        "/markets",
    ];
    for path in lists {
        let page = get(path).await;
        assert_eq!(page.status(), 200, "{path}");
        let page: Value = page.json().await.expect("JSON");
        let rows = page["data"].as_array().expect("rows");
        assert_eq!(page["count"], rows.len());
        assert_eq!(page["next_cursor"], "LTE=", "{path}");
    }
    for path in lists {
        let refused = get(path).await;
        assert_eq!(told(&refused), (429, Some(0)), "{path}");
        let text = refused.text().await.expect("a body");
        assert!(text.contains("market_lists, allowed: 5 in 10 s"), "{text}");
    }
    let book = get(&format!("/book?token_id={}", market().token_ids()[0])).await;
    assert_eq!(book.status(), 200);
    let trades = get("/builder/trades").await;
    assert_eq!(trades.headers()["x-next-cursor"], "LTE=");
    assert!(exchange.stop().success());
}
