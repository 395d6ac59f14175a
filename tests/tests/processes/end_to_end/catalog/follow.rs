//! An exchange whose upstream is the catalog surface of another one: nothing that trading needs is lost.

use std::collections::BTreeMap;

use foretell_tests::exchange::{Exchange, Options};
use foretell_tests::operator;
use serde_json::{Value, json};

use crate::end_to_end::catalog::{ended, foretell, get, run, runtime};

/// What both exchanges must have of a market: terms, words and state.
const FACTS: [&str; 11] = [
    "conditionId",
    "tokenIds",
    "status",
    "tick",
    "minimumSize",
    "fee",
    "negRisk",
    "payout",
    "question",
    "slug",
    "endDate",
];

#[test]
fn a_foretell_follows_a_foretell() {
    let first = Exchange::demo();
    let second = Exchange::start(&Options::default());
    let runtime = runtime();
    let own = runtime.block_on(register(&first));
    follow(&first, &second);
    runtime.block_on(agree(&first, &second));
    runtime.block_on(own_texts_arrive(&second, &own));

    // The end of markets arrives too: a payout of each kind.
    runtime.block_on(end(&first, &own));
    follow(&first, &second);
    let rows = runtime.block_on(agree(&first, &second));
    for (condition, payout) in &own[..3] {
        assert_eq!(rows[condition]["payout"], *payout, "{}", rows[condition]);
    }
    let (agrees, found) = run(&second, &["catalog", "check"]);
    assert!(agrees, "{found}");
}

/// One round of the second exchange, which trusts the payouts of the first.
fn follow(first: &Exchange, second: &Exchange) {
    let mut sync = foretell(second, &["catalog", "sync", &first.catalog]);
    sync.env("FORETELL_CATALOG_RESOLVE", "true");
    let (ok, report) = ended(sync.spawn().expect("the binary starts"));
    assert!(ok, "{report}");
}

/// Own markets of every kind of terms, three plain ones and a basket, with the payouts that they get.
async fn register(exchange: &Exchange) -> Vec<(String, &'static str)> {
    let plain = |slug: &str| {
        json!({ "question": format!("Does {slug} win?"), "slug": slug, "tags": ["Sport"],
            "description": "By points.", "end_date": "2031-01-01T00:00:00Z" })
    };
    let with = |slug: &str, terms: Value| {
        let mut market = plain(slug);
        let fields = market.as_object_mut().expect("an object");
        fields.extend(terms.as_object().expect("an object").clone());
        market
    };
    let fee = json!({ "rate_ppm": 40_000, "exponent": 2 });
    let event = json!({ "title": "Who wins the cup?", "tags": ["Cup"] });
    let event = operator::done(exchange, "/events", &event).await["event_id"].clone();
    let question = |slug: &str| with(slug, json!({ "event_id": event, "tick_size": "0.001" }));
    let mut own = Vec::new();
    for (market, payout) in [
        (
            with(
                "red",
                json!({ "fee": fee, "rebate_ppm": 250_000, "taker_delay_ms": 2_000 }),
            ),
            "yes",
        ),
        (
            with(
                "green",
                json!({ "minimum_order_size": "17", "tick_size": "0.001" }),
            ),
            "no",
        ),
        (plain("blue"), "half"),
        (question("cup-red"), ""),
        (question("cup-green"), ""),
    ] {
        let done = operator::done(exchange, "/markets", &market).await;
        own.push((
            done["condition_id"].as_str().expect("an id").to_owned(),
            payout,
        ));
    }
    for (condition, _) in &own[3..] {
        let named = json!({ "condition_id": condition });
        operator::done(exchange, "/markets/activate", &named).await;
    }
    own
}

async fn end(exchange: &Exchange, own: &[(String, &'static str)]) {
    for (condition, payout) in &own[..3] {
        let named = json!({ "condition_id": condition });
        operator::done(exchange, "/markets/close", &named).await;
        let resolution = json!({ "condition_id": condition, "payout": payout });
        operator::done(exchange, "/markets/resolve", &resolution).await;
    }
}

/// The rows of all markets by condition.
async fn rows(exchange: &Exchange) -> BTreeMap<String, Value> {
    let (status, answer) = operator::get(exchange, "/markets").await;
    assert_eq!(status, 200, "{answer}");
    let rows = answer["markets"].as_array().expect("rows").clone();
    let condition = |row: &Value| row["conditionId"].as_str().expect("an id").to_owned();
    rows.into_iter().map(|row| (condition(&row), row)).collect()
}

/// Markets, terms and baskets are the same on both.
async fn agree(first: &Exchange, second: &Exchange) -> BTreeMap<String, Value> {
    let (here, there) = (rows(first).await, rows(second).await);
    let conditions = |rows: &BTreeMap<String, Value>| rows.keys().cloned().collect::<Vec<_>>();
    assert_eq!(conditions(&here), conditions(&there));
    for (condition, row) in &here {
        let other = &there[condition];
        for fact in FACTS {
            assert_eq!(row[fact], other[fact], "{fact} of {}", row["slug"]);
        }
        for term in ["taker_delay_ms", "rebate_ppm"] {
            assert_eq!(
                row["terms"][term], other["terms"][term],
                "{term} of {}",
                row["slug"]
            );
        }
        assert_eq!(
            (&row["own"], row["eventId"].is_null()),
            (&row["own"], other["eventId"].is_null())
        );
        let basket = |rows: &BTreeMap<String, Value>, event: &Value| -> Vec<String> {
            let of_event = |row: &&Value| row["eventId"] == *event;
            let rows = rows.values().filter(of_event);
            rows.map(|row| row["slug"].to_string()).collect()
        };
        if !row["eventId"].is_null() {
            assert_eq!(
                basket(&here, &row["eventId"]),
                basket(&there, &other["eventId"])
            );
        }
    }
    there
}

async fn own_texts_arrive(second: &Exchange, own: &[(String, &'static str)]) {
    let (condition, _) = &own[3];
    let url = format!("{}/markets/{condition}?include_tag=true", second.catalog);
    let (status, market) = get(&url, None).await;
    assert_eq!(status, 200, "{market}");
    assert_eq!(
        market["events"][0]["title"], "Who wins the cup?",
        "{market}"
    );
    assert_eq!(market["description"], "By points.");
    assert_eq!(market["groupItemTitle"], "Does cup-red win?");
    assert_eq!(
        market["negRiskMarketID"],
        market["events"][0]["negRiskMarketID"]
    );
    let labels: Vec<_> = market["tags"]
        .as_array()
        .expect("tags")
        .iter()
        .map(|tag| &tag["label"])
        .collect();
    assert_eq!(labels, ["Cup", "Sport"]);
}
