//! The catalog surface over HTTP: the demo's sample, bad input, and the shape of errors.

use foretell_tests::demo::sample;
use foretell_tests::exchange::Exchange;
use serde_json::Value;

use crate::end_to_end::catalog::{get, runtime};

#[test]
fn the_sample_is_served_and_bad_input_is_told() {
    let exchange = Exchange::demo();
    runtime().block_on(async {
        lists(&exchange.catalog).await;
        single_records(&exchange.catalog).await;
        bad_input(&exchange.catalog).await;
    });
}

async fn lists(base: &str) {
    let sample = sample();
    let markets: usize = sample.events.iter().map(|event| event.markets.len()).sum();
    let count = |answer: &(u16, Value)| answer.1.as_array().map(Vec::len);
    assert_eq!(
        count(&get(&format!("{base}/events"), None).await),
        Some(sample.events.len())
    );
    assert_eq!(
        count(&get(&format!("{base}/markets?limit=500"), None).await),
        Some(markets)
    );
    let tagged = get(&format!("{base}/events?tag=politics"), None).await;
    assert_eq!(tagged.1[0]["slug"], "harbour-city-mayor-2027");
    let (status, found) = get(&format!("{base}/public-search?q=LEAGUE"), None).await;
    assert_eq!(status, 200);
    assert_eq!(found["events"][0]["slug"], "northern-league-2027");
}

async fn single_records(base: &str) {
    let sample = sample();
    let market = &sample.events[0].markets[0];
    let by_condition = get(&format!("{base}/markets/{}", market.condition_id()), None).await;
    assert_eq!(
        by_condition.1["question"],
        Value::from(market.question.as_str())
    );
    assert_eq!(by_condition.1["events"][0]["id"], "101");
    let by_slug = get(&format!("{base}/markets/slug/{}", market.slug), None).await;
    assert_eq!(by_slug, by_condition);
    let event = get(&format!("{base}/events/101"), None).await;
    assert_eq!(event.1["markets"].as_array().map(Vec::len), Some(5));
    assert_eq!(event.1["tags"][0]["label"], "Politics");
}

async fn bad_input(base: &str) {
    let long = "x".repeat(10_000);
    for (path, status, kind, text) in [
        ("/markets?limit=0", 400, "bad request", "limit"),
        ("/markets?limit=501", 400, "bad request", "limit"),
        ("/events?offset=-1", 400, "bad request", "offset"),
        ("/events?ascending=maybe", 400, "bad request", "ascending"),
        ("/events?order=evil%3Bdrop", 400, "bad request", "evil"),
        ("/markets?colour=red", 400, "bad request", "colour"),
        ("/public-search", 400, "bad request", "q is required"),
        ("/public-search?q=", 400, "bad request", "q is required"),
        ("/public-search?q=a&page=0", 400, "bad request", "page"),
        ("/events/abc", 400, "bad request", "id"),
        ("/events/999999", 404, "not found error", "id not found"),
        ("/markets/999999", 404, "not found error", "id not found"),
        (
            "/markets/slug/%22%25%27%2F%E2%80%8B",
            404,
            "not found error",
            "slug not found",
        ),
        (
            "/events/slug/nothing",
            404,
            "not found error",
            "slug not found",
        ),
        (
            "/tags/slug/nothing",
            404,
            "not found error",
            "slug not found",
        ),
        ("/nothing", 404, "not found error", "not found"),
        ("/markets?q=%zz", 400, "bad request", "hex"),
        (
            &format!("/public-search?q={long}"),
            400,
            "bad request",
            "8192",
        ),
        (
            &format!("/markets/slug/{long}"),
            414,
            "bad request",
            "path too long",
        ),
    ] {
        let (given, body) = get(&format!("{base}{path}"), None).await;
        assert_eq!(given, status, "{path}: {body}");
        assert_eq!(body["type"], kind, "{path}: {body}");
        let error = body["error"].as_str().unwrap_or_default();
        assert!(error.contains(text), "{path}: {body}");
    }
    let other = reqwest::Client::new()
        .post(format!("{base}/events"))
        .send()
        .await
        .expect("an answer");
    assert_eq!(other.status().as_u16(), 405);
    let body: Value = other.json().await.expect("JSON");
    assert_eq!(body["type"], "method not allowed");
}
