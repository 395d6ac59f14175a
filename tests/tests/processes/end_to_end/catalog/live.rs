//! A change of the upstream appears on every surface at runtime, without a restart or an order.

use std::time::Instant;

use foretell_tests::demo::visitors;
use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::operator;
use serde_json::{Value, json};

use crate::end_to_end::catalog::trading::cross;
use crate::end_to_end::catalog::upstream::{Upstream, event};
use crate::end_to_end::catalog::{get, runtime};

const MARKET: &str = "0x00000000000000000000000000000000000000000000000000000000000002bc";
const TOKENS: [&str; 2] = ["700001", "700002"];

#[test]
fn a_change_upstream_shows_without_a_start() {
    let upstream = Upstream::start();
    *upstream.events.lock() = vec![event(7, false, 2, 10)];
    let options = Options::demo()
        .with("FORETELL_CATALOG_UPSTREAM", &upstream.base)
        .with("FORETELL_CATALOG_EVERY_SECONDS", "1");
    let mut exchange = Exchange::start(&options);
    runtime().block_on(async {
        let named = |market: &Value| market["question"] == "Question 700?";
        until(&exchange, 700, named).await;
        let traders = visitors(&exchange, 2).await;
        cross(&traders, TOKENS, (false, 4_500)).await;
        assert_eq!(trade(&exchange).await["title"], "Question 700?");

        *upstream.events.lock() = vec![changed()];
        // Names come from the catalog, the tick from a command: one may appear before the other.
        let renewed = |market: &Value| {
            market["market_slug"] == "anew" && market["minimum_tick_size"].as_f64() == Some(0.001)
        };
        let market = until(&exchange, 700, renewed).await;
        for (name, expected) in [
            ("slug", json!("anew")),
            ("icon", json!("https://example.com/new.png")),
            // Who traded meant this.
            ("question", json!("Question 700?")),
            ("outcomes", json!(["Yes", "No"])),
            ("tags", json!(["Weather"])),
            ("description", json!("How 700 resolves.")),
        ] {
            assert_eq!(market[name].to_string(), expected.to_string(), "{name}");
        }
        assert_eq!(market["event"]["title"], "A new title");
        until(&exchange, 701, |market| market["closed"] == true).await;
        let listed = get(&format!("{}/markets", exchange.trading), None).await.1;
        let listed = listed["data"].as_array().expect("markets");
        let listed = listed.iter().find(|market| market["market_slug"] == "anew");
        assert_eq!(listed.expect("listed")["tokens"][1]["outcome"], "No");
        is_called_anew(&exchange).await;
    });
    // A restarted gateway has the same texts.
    exchange.kill_and_wait("gateway-1");
    runtime().block_on(async {
        until(&exchange, 700, |market| market["market_slug"] == "anew").await;
    });
}

#[test]
fn what_stops_upstream_stops_here_beside_the_operators_hold() {
    let upstream = Upstream::start();
    let with = |accepts: bool, minute: u64| {
        let mut event = event(7, false, 1, minute);
        event["markets"][0]["acceptingOrders"] = accepts.into();
        vec![event]
    };
    *upstream.events.lock() = with(true, 10);
    let options = Options::demo()
        .with("FORETELL_CATALOG_UPSTREAM", &upstream.base)
        .with("FORETELL_CATALOG_EVERY_SECONDS", "1");
    let exchange = Exchange::start(&options);
    runtime().block_on(async {
        let accepts = |market: &Value| market["accepting_orders"] == true;
        let holds = async || {
            let rows = operator::get(&exchange, &format!("/markets?condition_id={MARKET}"))
                .await
                .1;
            rows["markets"][0]["holds"].clone()
        };
        let named = json!({ "condition_id": MARKET });
        until(&exchange, 700, accepts).await;

        *upstream.events.lock() = with(false, 20);
        let held = until(&exchange, 700, |market| !accepts(market)).await;
        assert_eq!(held["life"]["holds"], json!(["upstream"]));
        operator::done(&exchange, "/markets/pause", &named).await;
        assert_eq!(holds().await, json!(["operator", "upstream"]));

        *upstream.events.lock() = with(true, 30);
        let began = Instant::now();
        while holds().await != json!(["operator"]) {
            assert!(began.elapsed() < PATIENCE);
        }
        operator::done(&exchange, "/markets/resume", &named).await;
        until(&exchange, 700, accepts).await;
    });
}

/// The event and its markets with other texts, a finer tick, and the second market closed.
fn changed() -> Value {
    let mut event = event(7, false, 2, 20);
    event["title"] = "A new title".into();
    event["slug"] = "new-event".into();
    event["tags"] = json!([{"id": "3", "label": "Weather", "slug": "weather"}]);
    let market = &mut event["markets"][0];
    market["question"] = "Asked anew?".into();
    market["slug"] = "anew".into();
    market["icon"] = "https://example.com/new.png".into();
    market["outcomes"] = "[\"Up\", \"Down\"]".into();
    market["description"] = "Other rules, which nobody who traded has seen.".into();
    market["orderPriceMinTickSize"] = json!(0.001);
    event["markets"][1]["closed"] = true.into();
    event
}

/// The market on the trading surface, once it is as expected.
async fn until(exchange: &Exchange, number: u64, expected: impl Fn(&Value) -> bool) -> Value {
    let url = format!("{}/markets/0x{number:064x}", exchange.trading);
    let began = Instant::now();
    loop {
        let (status, market) = get(&url, None).await;
        if status == 200 && expected(&market) {
            return market;
        }
        assert!(began.elapsed() < PATIENCE, "{status} {market}");
    }
}

/// The newest trade of the data surface.
async fn trade(exchange: &Exchange) -> Value {
    let (_, trades) = get(&format!("{}/trades?limit=1", exchange.data_surface), None).await;
    trades[0].clone()
}

/// Trades, positions and their filters by title have the new texts, and the question that was traded.
async fn is_called_anew(exchange: &Exchange) {
    let trade = trade(exchange).await;
    assert_eq!(trade["title"], "Question 700?");
    assert_eq!(
        (&trade["slug"], &trade["eventSlug"]),
        (&json!("anew"), &json!("new-event"))
    );
    assert!(["Yes", "No"].contains(&trade["outcome"].as_str().expect("a label")));
    let wallet = trade["proxyWallet"].as_str().expect("a wallet");
    for (title, rows) in [("asked%20ANEW", 0), ("question", 1)] {
        let url = format!(
            "{}/positions?user={wallet}&title={title}",
            exchange.data_surface
        );
        let (_, positions) = get(&url, None).await;
        assert_eq!(
            positions.as_array().map(Vec::len),
            Some(rows),
            "{positions}"
        );
    }
}
