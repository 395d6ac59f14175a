//! Price history over HTTP: responses for a resting book, and rejections.

use foretell_tests::demo::{buy, market, visitor};
use foretell_tests::exchange::Exchange;
use reqwest::Method;
use serde_json::{Value, json};

use crate::end_to_end::trading_surface::{Answered, request, send};

async fn get(exchange: &Exchange, query: &str) -> Answered {
    let path = format!("/prices-history?{query}");
    send(request(exchange, Method::GET, &path)).await
}

async fn post(exchange: &Exchange, body: &Value) -> Answered {
    send(request(exchange, Method::POST, "/batch-prices-history").json(body)).await
}

/// The starts of the points, after a check that each has this price.
fn starts(points: &Value, price: &Value) -> Vec<u64> {
    let points = points.as_array().expect("an array");
    let start = |point: &Value| {
        assert_eq!(&point["p"], price, "{point}");
        point["t"].as_u64().expect("seconds")
    };
    points.iter().map(start).collect()
}

#[tokio::test]
async fn the_midpoint_is_there_at_once_and_goes_on() {
    let exchange = Exchange::demo();
    let trader = visitor(&exchange, 0).await;
    let [yes, no] = market().token_ids();
    assert_eq!(
        get(&exchange, &format!("market={yes}&interval=max"))
            .await
            .body,
        json!({ "history": [] })
    );
    for (token, price) in [(&yes, 4_200), (&no, 5_300)] {
        buy(&trader, token, 1_000, price).await;
    }

    // Bid 0.42, ask 0.47. A long step gives one bucket, or two when it ends during the test.
    for fidelity in [1, 4, 10, 60, 720, 1_440, 2_147_483_647] {
        let step = fidelity * 60;
        let query = format!("market={yes}&interval=max&fidelity={fidelity}");
        let answered = get(&exchange, &query).await;
        assert_eq!(answered.status, 200, "{}", answered.body);
        assert!(answered.sequence.is_some());
        let starts = starts(&answered.body["history"], &json!(0.445));
        assert!(!starts.is_empty(), "{fidelity}");
        for (index, start) in starts.iter().enumerate() {
            assert_eq!((start % step, *start), (0, starts[0] + index as u64 * step));
        }
    }
    let unknown = "1".repeat(70);
    let body = json!({
        "markets": [no, yes, unknown, "no token", no],
        "interval": "1h",
        "fidelity": null,
    });
    let answered = post(&exchange, &body).await;
    let histories = answered.body["history"].as_object().expect("an object");
    let asked: Vec<_> = histories.keys().collect();
    assert_eq!(asked, [&no, &yes, &unknown, "no token"]);
    assert_eq!(
        starts(&histories[&no], &json!(0.555)),
        starts(&histories[&yes], &json!(0.445))
    );
    assert_eq!(histories[&unknown], json!([]));
    assert_eq!(
        get(&exchange, &format!("market={unknown}&interval=1d"))
            .await
            .body,
        json!({ "history": [] })
    );

    // All of time in the smallest step returns only the existing points.
    let all =
        json!({ "markets": [yes], "start_ts": 0, "end_ts": 253_402_300_799_u64, "fidelity": 1 });
    let answered = post(&exchange, &all).await;
    assert!(!starts(&answered.body["history"][&yes], &json!(0.445)).is_empty());
    // Ranges in the future and before the market are empty.
    for range in [
        "startTs=253402300799",
        "startTs=5&endTs=1000000.9",
        "startTs=5&endTs=5",
    ] {
        let answered = get(&exchange, &format!("market={yes}&{range}")).await;
        assert_eq!(
            (answered.status, answered.body),
            (200, json!({ "history": [] })),
            "{range}"
        );
    }
    assert!(exchange.stop().success());
}

#[tokio::test]
async fn what_is_asked_wrongly_is_refused_with_what_is_allowed() {
    let exchange = Exchange::demo();
    let [yes, _] = market().token_ids();
    const SECONDS: &str = "allowed: unix seconds, 0 to 253402300799";
    const MINUTES: &str = "allowed: minutes, 1 to 2147483647";
    const INTERVALS: &str = "allowed: 1m, 5m, 15m, 1h, 6h, 1d, 1w, max, all";
    const ONE_OF_TWO: &str = "interval is given with start_ts or end_ts, allowed: one or the other";
    let refused = |answered: Answered, expected: &str, asked: &str| {
        let error = answered.body["error"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        assert_eq!(answered.status, 400, "{asked}: {}", answered.body);
        assert!(error.contains(expected), "{asked}: {error}");
    };

    for (fields, expected) in [
        (
            json!({}),
            "markets is missing, allowed: an array of 1 to 20 token ids",
        ),
        (json!({ "markets": null }), "markets is missing"),
        (json!({ "markets": yes }), "allowed: an array"),
        (
            json!({ "markets": [] }),
            "markets has 0 entries, allowed: 1 to 20",
        ),
        (
            json!({ "markets": vec![&yes; 21] }),
            "markets has 21 entries, allowed: 1 to 20",
        ),
        (
            json!({ "markets": [7] }),
            "markets is 7, allowed: an array of 1 to 20 token ids",
        ),
        (json!({ "markets": ["1".repeat(257)] }), "Invalid token id"),
        (json!({ "markets": [yes] }), "start_ts is missing"),
        (
            json!({ "markets": [yes], "end_ts": 5 }),
            "start_ts is missing",
        ),
        (json!({ "markets": [yes], "interval": "2d" }), INTERVALS),
        (json!({ "markets": [yes], "interval": 7 }), INTERVALS),
        (
            json!({ "markets": [yes], "interval": "1d", "start_ts": 5 }),
            ONE_OF_TWO,
        ),
        (
            json!({ "markets": [yes], "interval": "max", "end_ts": 5 }),
            ONE_OF_TWO,
        ),
        (
            json!({ "markets": [yes], "start_ts": 6, "end_ts": 5 }),
            "end_ts is '5', allowed: not before start_ts (6)",
        ),
        (json!({ "markets": [yes], "start_ts": i64::MIN }), SECONDS),
        (json!({ "markets": [yes], "start_ts": i64::MAX }), SECONDS),
        (json!({ "markets": [yes], "start_ts": u64::MAX }), SECONDS),
        (json!({ "markets": [yes], "start_ts": 1e300 }), SECONDS),
        (json!({ "markets": [yes], "start_ts": -1 }), SECONDS),
        (json!({ "markets": [yes], "start_ts": [1] }), SECONDS),
        (
            json!({ "markets": [yes], "start_ts": 1, "end_ts": "soon" }),
            SECONDS,
        ),
        (
            json!({ "markets": [yes], "start_ts": 1, "fidelity": 0 }),
            MINUTES,
        ),
        (
            json!({ "markets": [yes], "start_ts": 1, "fidelity": 2_147_483_648_u64 }),
            MINUTES,
        ),
        (
            json!({ "markets": [yes], "start_ts": 1, "fidelity": -1 }),
            MINUTES,
        ),
        (
            json!({ "markets": [yes], "start_ts": 1, "fidelity": 1.5 }),
            MINUTES,
        ),
        (
            json!({ "markets": [yes], "start_ts": 1, "fidelity": "5" }),
            MINUTES,
        ),
        (json!([]), "allowed"),
        (json!("x"), "allowed"),
    ] {
        refused(
            post(&exchange, &fields).await,
            expected,
            &fields.to_string(),
        );
    }

    let now = "interval=1d";
    for (query, expected) in [
        (now.to_owned(), "market is missing, allowed: a token id"),
        (format!("market=&{now}"), "market is missing"),
        (format!("market=-1&{now}"), "Invalid token id"),
        (
            format!("market={yes}&market={yes}&{now}"),
            "market is repeated, allowed: once",
        ),
        (format!("market={yes}"), "start_ts is missing"),
        (format!("market={yes}&interval="), "start_ts is missing"),
        (format!("market={yes}&interval=1D"), INTERVALS),
        (format!("market={yes}&{now}&startTs=1"), ONE_OF_TWO),
        (
            format!("market={yes}&start_ts=1&startTs=1"),
            "start_ts is repeated, allowed: once",
        ),
        (
            format!("market={yes}&startTs=2&endTs=1"),
            "not before start_ts (2)",
        ),
        (
            format!("market={yes}&startTs=-9223372036854775808"),
            SECONDS,
        ),
        (format!("market={yes}&startTs=9223372036854775807"), SECONDS),
        (format!("market={yes}&startTs=1e3"), SECONDS),
        (format!("market={yes}&startTs=1&fidelity=0"), MINUTES),
        (
            format!("market={yes}&startTs=1&fidelity=2147483648"),
            MINUTES,
        ),
    ] {
        refused(get(&exchange, &query).await, expected, &query);
    }
    assert!(exchange.stop().success());
}
