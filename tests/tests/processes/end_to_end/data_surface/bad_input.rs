//! Each row: a request, its status, and the text, or the start of the text before `…`.

use foretell_tests::demo::send;
use foretell_tests::exchange::Exchange;
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::end_to_end::data_surface::{get, runtime};

const USER: &str = "0x1111111111111111111111111111111111111111";
const MARKET: &str = "0x1111111111111111111111111111111111111111111111111111111111111111";

const TABLE: &[(&str, &str)] = &[
    (
        "/trades?limit=-1",
        "invalid_field: limit: '-1' is not an integer from 0 to 10000",
    ),
    (
        "/trades?limit=10001",
        "invalid_field: limit: '10001' is not an integer from 0 to 10000",
    ),
    (
        "/trades?limit=1e3",
        "invalid_field: limit: '1e3' is not an integer from 0 to 10000",
    ),
    (
        "/trades?limit=99999999999999999999",
        "invalid_field: limit: '99999999999999999999' is not an integer from 0 to 10000",
    ),
    (
        "/trades?offset=10001",
        "invalid_field: offset: '10001' is not an integer from 0 to 10000",
    ),
    (
        "/trades?limit=1&limit=2",
        "invalid_field: limit: it is repeated, allowed: once",
    ),
    ("/trades?foo=1", "unknown_field: foo"),
    ("/trades?sizeThreshold=1", "unknown_field: sizeThreshold"),
    ("/trades?filterType=CASH", "missing_field: filterAmount"),
    ("/trades?filterAmount=6", "missing_field: filterType"),
    ("/trades?cursorId=x", "unknown_field: cursorId"),
    (
        "/closed-positions?user=USER&sizeThreshold=3",
        "unknown_field: sizeThreshold",
    ),
    ("/v2/positions", "missing_field: user"),
    (
        "/v2/positions?user=USER&sizeThreshold=1",
        "unknown_field: sizeThreshold",
    ),
    (
        "/v2/positions?user=USER&status=open",
        "invalid_field: status: 'open' is not one of OPEN, REDEEMABLE, REDEEMABLE_LOST, MERGEABLE, CLOSED",
    ),
    (
        "/v2/positions?user=USER&filter_amount=1",
        "missing_field: filter_type",
    ),
    (
        "/v2/positions?user=USER&event_id=1&condition_id=2",
        "invalid_field: event_id: …",
    ),
    (
        "/v2/leaderboard?user=USER&sort_by=PNL",
        "invalid_field: sort_by: user is given too, whose ranks are in one answer",
    ),
    (
        "/v2/leaderboard?user=USER&cursor=5.1~1",
        "invalid_field: cursor: user is given too, whose ranks are in one answer",
    ),
    ("/v2/holders", "missing_field: condition"),
    (
        "/v2/holders?condition_id=1&include_pnl=true&limit=101",
        "invalid_field: limit: '101' is not an integer from 1 to 100 with include_pnl",
    ),
    ("/v2/prices-history?interval=1d", "missing_field: token_id"),
    (
        "/v2/prices-history?token_id=12&interval=1d&fidelity=5",
        "unknown_field: fidelity",
    ),
    (
        "/trades?filterType=cash&filterAmount=1",
        "invalid_field: filterType: …",
    ),
    (
        "/trades?filterAmount=NaN",
        "invalid_field: filterAmount: 'NaN' is not a number from 0 …",
    ),
    (
        "/trades?filterType=CASH&filterAmount=inf",
        "invalid_field: filterAmount: 'inf' …",
    ),
    (
        "/trades?filterType=CASH&filterAmount=-0",
        "invalid_field: filterAmount: '-0' …",
    ),
    (
        "/trades?filterType=TOKENS&filterAmount=-1",
        "invalid_field: filterAmount: '-1' …",
    ),
    (
        "/trades?takerOnly=yes",
        "invalid_field: takerOnly: 'yes' is not true, false, 1 or 0",
    ),
    (
        "/trades?side=HOLD",
        "invalid_field: side: 'HOLD' is not one of BUY, SELL",
    ),
    (
        "/trades?market=0x12",
        "invalid_field: market: '0x12' is not a condition id, 0x and 64 hex digits, or an asset …",
    ),
    ("/trades?user=%00", "invalid_field: user: …"),
    ("/trades?user=%zz", "invalid_field: query: …"),
    ("/positions", "missing_field: user"),
    ("/positions?user=", "missing_field: user"),
    (
        "/positions?user=0x12",
        "invalid_field: user: '0x12' is not an address, 0x and 40 hex digits",
    ),
    (
        "/positions?user=USER&limit=501",
        "invalid_field: limit: '501' is not an integer from 0 to 500",
    ),
    (
        "/positions?user=USER&offset=10001",
        "invalid_field: offset: …",
    ),
    (
        "/positions?user=USER&sortBy=SIZE",
        "invalid_field: sortBy: 'SIZE' is not one of CURRENT, …",
    ),
    (
        "/positions?user=USER&sortDirection=UP",
        "invalid_field: sortDirection: …",
    ),
    (
        "/positions?user=USER&sizeThreshold=-1",
        "invalid_field: sizeThreshold: '-1' …",
    ),
    (
        "/positions?user=USER&redeemable=maybe",
        "invalid_field: redeemable: …",
    ),
    ("/closed-positions", "missing_field: user"),
    (
        "/closed-positions?user=USER&limit=51",
        "invalid_field: limit: '51' is not an integer from 0 to 50",
    ),
    (
        "/closed-positions?user=USER&offset=100001",
        "invalid_field: offset: '100001' …",
    ),
    (
        "/closed-positions?user=USER&sortBy=CURRENT",
        "invalid_field: sortBy: …",
    ),
    (
        "/closed-positions?user=USER&mergeable=1",
        "unknown_field: mergeable",
    ),
    ("/holders", "missing_field: market"),
    ("/holders?market=", "missing_field: market"),
    (
        "/holders?market=,",
        "invalid_field: market: ',' is not a list",
    ),
    (
        "/holders?market=MARKET&limit=501",
        "invalid_field: limit: '501' …",
    ),
    (
        "/holders?market=MARKET&minBalance=1e3",
        "invalid_field: minBalance: '1e3' …",
    ),
    ("/holders?market=MARKET&user=USER", "unknown_field: user"),
    ("/activity", "missing_field: user"),
    (
        "/activity?user=USER&type=TRADE,GIFT",
        "invalid_field: type: 'GIFT' …",
    ),
    (
        "/activity?user=USER&start=9&end=8",
        "invalid_field: end: '8' …",
    ),
    ("/value", "missing_field: user"),
    ("/traded?user=USER&market=MARKET", "unknown_field: market"),
    ("/oi?market=x", "invalid_field: market: 'x' is not …"),
    ("/oi?eventId=1", "unknown_field: eventId"),
    ("/live-volume", "missing_field: id or market"),
    (
        "/live-volume?id=x",
        "invalid_field: id: 'x' is not an event id, an integer",
    ),
    (
        "/live-volume?id=1&market=MARKET",
        "invalid_field: id: market is given too, allowed: one of the two",
    ),
    (
        "/trades?eventId=1&market=MARKET",
        "invalid_field: eventId: market is given too, allowed: one of the two",
    ),
    ("/trades?start=5&end=4", "invalid_field: end: '4' …"),
    (
        "/positions?user=USER&eventId=-1",
        "invalid_field: eventId: '-1' is not an event id, an integer",
    ),
    (
        "/activity?user=USER&sortBy=PRICE",
        "invalid_field: sortBy: 'PRICE' is not one of TIMESTAMP, TOKENS, CASH",
    ),
    (
        "/v1/leaderboard?category=POLITICS",
        "invalid_field: category: 'POLITICS' …",
    ),
    (
        "/leaderboard?timePeriod=YEAR",
        "invalid_field: timePeriod: 'YEAR' …",
    ),
    (
        "/v1/leaderboard?orderBy=pnl",
        "invalid_field: orderBy: 'pnl' is not one of PNL, VOL",
    ),
    (
        "/v1/leaderboard?limit=51",
        "invalid_field: limit: '51' is not an integer from 0 to 50",
    ),
    ("/v1/builders/leaderboard?user=USER", "unknown_field: user"),
    ("/v1/builders/volume?limit=5", "unknown_field: limit"),
    ("/live-volume?market=x", "invalid_field: market: 'x' …"),
];

#[test]
fn bad_input_is_named_with_what_is_allowed() {
    let exchange = Exchange::demo();
    runtime().block_on(async {
        for (path, text) in TABLE {
            refused(&exchange, path, 400, text).await;
        }
        long_ones(&exchange).await;
        other_failures(&exchange).await;
    });
    assert!(exchange.stop().success());
}

async fn refused(exchange: &Exchange, path: &str, status: u16, text: &str) {
    let path = path.replace("USER", USER).replace("MARKET", MARKET);
    let (got, answer) = send(get(exchange, &path)).await;
    told(&path, got, &answer, status, text);
}

fn told(path: &str, got: u16, answer: &Value, status: u16, text: &str) {
    let shown = answer["error"].as_str().unwrap_or("none");
    let is_told = match text.strip_suffix('…') {
        Some(beginning) => shown.starts_with(beginning),
        None => shown == text,
    };
    assert!(got == status && is_told, "{path:.99}: {got} {answer}");
    let expected = match path.starts_with("/v2/") {
        false => json!({ "error": shown }),
        true => json!({
            "error": shown,
            "code": "invalid_request",
            "parameter": shown.split(": ").nth(1),
            "retryable": false,
            "trace_id": answer["trace_id"],
        }),
    };
    assert_eq!(*answer, expected, "{path:.99}");
}

async fn long_ones(exchange: &Exchange) {
    let conditions = |count| vec![MARKET; count].join(",");
    let path = format!("/holders?market={}", conditions(200));
    let longer = "invalid_field: query: longer than 8192 bytes";
    refused(exchange, &path, 400, longer).await;
    let path = format!("/trades?market={}", ",0x1".repeat(201));
    let too_many = "invalid_field: market: 201 entries are not up to 200";
    refused(exchange, &path, 400, too_many).await;
    for letter in ["x", "%F0%9F%8E%B2"] {
        let title = |count| format!("/positions?user={USER}&title={}", letter.repeat(count));
        let (status, rows) = send(get(exchange, &title(100))).await;
        assert_eq!((status, rows), (200, json!([])), "{letter}");
        refused(exchange, &title(101), 400, "invalid_field: title: …").await;
    }
    // More than the limit of a request head, by a little and by much.
    for count in [300, 900, 10_000] {
        let (status, answer) =
            raw(exchange, &format!("/holders?market={}", conditions(count))).await;
        let longer = "bad_request: request line and headers are longer than 16384 bytes, or more than 100 headers";
        told(&format!("{count} markets"), status, &answer, 431, longer);
    }
}

/// Status and JSON of a raw request that no client library would send.
async fn raw(exchange: &Exchange, path: &str) -> (u16, Value) {
    let host = exchange.data_surface.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).await.expect("a connection");
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\n\r\n");
    stream
        .write_all(request.as_bytes())
        .await
        .expect("it is taken");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    let status = answer
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    assert!(head.contains("\r\nx-error-code: "), "{head}");
    let body = serde_json::from_str(body).expect("JSON");
    (status.expect("a status"), body)
}

async fn other_failures(exchange: &Exchange) {
    refused(exchange, "/nowhere", 404, "not_found: not found").await;
    refused(exchange, "/trades//", 404, "not_found: not found").await;
    let posted = |method: Method, body: &'static str| {
        let url = format!("{}/trades", exchange.data_surface);
        Client::new().request(method, url).body(body)
    };
    let (status, answer) = send(posted(Method::POST, "{}")).await;
    let only = "method_not_allowed: method not allowed, allowed: GET, HEAD";
    told("POST", status, &answer, 405, only);
    let long = posted(Method::GET, "").body(vec![b' '; 1 << 20]);
    let answer = long.send().await.expect("an answer");
    assert_eq!(answer.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let answer = answer.json().await.expect("JSON");
    told(
        "long body",
        413,
        &answer,
        413,
        "bad_request: the body is too large…",
    );
    for minimum in ["x", "999999999999"] {
        let request = get(exchange, "/trades").header("x-min-sequence", minimum);
        let (status, answer) = send(request).await;
        told(minimum, status, &answer, 400, "bad_request: …");
    }
}
