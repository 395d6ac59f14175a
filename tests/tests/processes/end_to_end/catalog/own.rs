//! An operator's own markets on the catalog surface, also where an upstream has them.

use std::collections::BTreeSet;
use std::time::Instant;

use foretell_tests::demo::visitors;
use foretell_tests::exchange::{Exchange, Options, PATIENCE};
use foretell_tests::operator;
use serde_json::{Value, json};

use crate::end_to_end::catalog::trading::cross;
use crate::end_to_end::catalog::upstream::event;
use crate::end_to_end::catalog::{get, recorded_rows, run, runtime};

const SLUG: &str = "own-market";

/// The condition of the upstream's market that the operator registers first.
fn condition() -> String {
    format!("0x{:064x}", 700)
}

#[test]
fn an_own_market_stays_the_operators_on_every_surface() {
    let options = Options::demo().with("FORETELL_CATALOG_RESOLVE", "true");
    let mut exchange = Exchange::start(&options);
    let runtime = runtime();
    runtime.block_on(async {
        let market = json!({ "question": "Is it ours?", "slug": SLUG, "condition_id": condition(),
            "token_ids": ["700001", "700002"], "minimum_order_size": "3", "tick_size": "0.001" });
        operator::done(&exchange, "/markets", &market).await;
        first_class(&exchange).await;
    });
    // The upstream names the same condition, with other rules, and pays it.
    let mut taken = event(7, false, 2, 10);
    let market = &mut taken["markets"][0];
    market["closed"] = true.into();
    market["umaResolutionStatus"] = "resolved".into();
    market["outcomePrices"] = "[\"0\", \"1\"]".into();
    let path = exchange.data().join("records.json");
    std::fs::write(&path, json!([taken]).to_string()).expect("a file");
    let (ok, report) = run(
        &exchange,
        &["catalog", "import", path.to_str().expect("UTF-8")],
    );
    assert!(ok, "{report}");
    assert_eq!(report["exchange"]["found"]["remark"], 1, "{report}");
    runtime.block_on(async {
        first_class(&exchange).await;
        shown_once(&exchange.catalog).await;
        trades_show(&exchange).await;
    });
    exchange.kill_and_wait("gateway-1");
    runtime.block_on(async {
        // The first answer of a gateway waits for the figures.
        let (status, rows) = get(&most_traded(&exchange), None).await;
        assert_eq!(status, 200, "{rows}");
        assert!(rows[0]["volume24hr"].as_f64() > Some(0.0), "{rows}");
        closes_here(&exchange).await;
    });
}

#[test]
fn a_market_of_an_upstream_leaves_a_slug_to_the_own_market_that_has_it() {
    let exchange = Exchange::start(&Options::demo());
    let runtime = runtime();
    let market = json!({ "question": "Is it ours?", "slug": "market-701" });
    let own = runtime.block_on(operator::done(&exchange, "/markets", &market));
    let path = exchange.data().join("records.json");
    std::fs::write(&path, json!([event(7, false, 2, 10)]).to_string()).expect("a file");
    let import = ["catalog", "import", path.to_str().expect("UTF-8")];
    // Its exit code says whether it found something: the sync may have registered the market before it looked.
    let (_, imported) = run(&exchange, &import);
    assert_eq!(imported["ok"], true, "{imported}");
    let (_, report) = run(&exchange, &["catalog", "check"]);
    assert_eq!(report["found"]["error"], 1, "{report}");
    let (_, markets) = runtime.block_on(operator::get(&exchange, "/markets"));
    let rows = markets["markets"].as_array().expect("rows").iter();
    let taken = rows.filter(|row| row["slugTaken"] == true);
    let slugs: Vec<_> = taken.map(|row| (&row["slug"], &row["own"])).collect();
    assert_eq!(slugs, [(&json!("market-701"), &json!(false))]);
    let by_slug = format!("{}/markets/slug/market-701", exchange.catalog);
    let (_, shown) = runtime.block_on(get(&by_slug, None));
    assert_eq!(shown["conditionId"], own["condition_id"], "{shown}");
    assert!(exchange.stop().success(), "a clean stop");
}

/// Names of the fields that every record of a recorded list has; `None` without recorded data.
fn fields_of_all(name: &str) -> Option<BTreeSet<String>> {
    let rows = recorded_rows(name)?;
    let names = |row: &Value| row.as_object().expect("a record").keys().cloned().collect();
    rows.iter()
        .map(names)
        .reduce(|all: BTreeSet<_>, one| &all & &one)
}

#[test]
fn an_own_market_has_every_field_that_all_recorded_ones_have() {
    let markets = fields_of_all("gamma/markets-600-20260208.json.zst");
    let events = fields_of_all("gamma/events-20-202503.json.zst");
    let (Some(markets), Some(events)) = (markets, events) else {
        return;
    };
    assert!(
        markets.contains("marketMakerAddress") && markets.len() > 30,
        "{markets:?}"
    );
    let exchange = Exchange::start(&Options::demo());
    runtime().block_on(async {
        let market =
            json!({ "question": "Is it ours?", "slug": SLUG, "end_date": "2030-01-01 02:00:00+02" });
        let registered = operator::done(&exchange, "/markets", &market).await;
        let condition = registered["condition_id"].as_str().expect("a condition");
        let (_, record) = get(&format!("{}/markets/{condition}", exchange.catalog), None).await;
        let (_, page) = get(&format!("{}/markets", exchange.trading), None).await;
        let mut rows = page["data"].as_array().expect("rows").iter();
        let row = rows.find(|row| row["condition_id"] == condition).expect("it is listed");
        let ends = [&record["endDate"], &row["end_date_iso"]];
        assert_eq!(ends, ["2030-01-01T00:00:00Z"; 2], "one form on every surface");
        for (path, expected) in [("markets", &markets), ("events", &events)] {
            let (status, rows) =
                get(&format!("{}/{path}?slug={SLUG}", exchange.catalog), None).await;
            assert_eq!(status, 200, "{rows}");
            let record = rows[0].as_object().expect("a record");
            let missing: Vec<_> = expected
                .iter()
                .filter(|name| !record.contains_key(*name))
                .collect();
            assert!(missing.is_empty(), "{path} lacks {missing:?}");
        }
    });
    assert!(exchange.stop().success(), "a clean stop");
}

async fn own(exchange: &Exchange) -> Value {
    let (status, market) = get(
        &format!("{}/markets/{}", exchange.catalog, condition()),
        None,
    )
    .await;
    assert_eq!(status, 200, "{market}");
    market
}

/// It has one identity, the exchange's facts, and nothing empty.
async fn first_class(exchange: &Exchange) {
    let market = own(exchange).await;
    for (field, expected) in [
        ("question", json!("Is it ours?")),
        ("slug", json!(SLUG)),
        ("closed", json!(false)),
        ("acceptingOrders", json!(true)),
        ("orderPriceMinTickSize", json!(0.001)),
        ("orderMinSize", json!(3)),
        ("outcomePrices", json!("[\"0.5\",\"0.5\"]")),
        ("negRisk", json!(false)),
    ] {
        assert_eq!(
            market[field].to_string(),
            expected.to_string(),
            "{field}: {market}"
        );
    }
    for date in ["startDate", "createdAt", "updatedAt"] {
        assert!(market[date].is_string(), "{date}: {market}");
    }
    let question_id = market["questionID"].as_str().expect("an id");
    assert_eq!(question_id.len(), 66, "{market}");
    assert!(market["events"][0]["creationDate"].is_string(), "{market}");
    let (_, detail) = get(
        &format!("{}/markets/{}", exchange.trading, condition()),
        None,
    )
    .await;
    assert_eq!(
        detail["market_id"].to_string(),
        market["id"].as_str().expect("an id")
    );
    assert_eq!(detail["question_id"], question_id);
    assert_eq!(detail["question"], "Is it ours?");
}

/// Neither the upstream's record nor its market is anywhere; its other market is.
async fn shown_once(catalog: &str) {
    let condition = condition();
    for path in [
        "/markets?limit=500".to_owned(),
        "/markets?closed=true&limit=500".to_owned(),
        format!("/markets?condition_ids={condition}"),
        "/markets?clob_token_ids=700001".to_owned(),
        "/markets?event_slug=event-7".to_owned(),
    ] {
        let (status, rows) = get(&format!("{catalog}{path}"), None).await;
        assert_eq!(status, 200, "{rows}");
        for row in rows.as_array().expect("rows") {
            let is_own = row["conditionId"] == condition.as_str();
            assert_eq!(is_own, row["slug"] == SLUG, "{path}: {row}");
        }
    }
    for path in ["/markets/slug/market-700", "/markets/700"] {
        assert_eq!(
            get(&format!("{catalog}{path}"), None).await.0,
            404,
            "{path}"
        );
    }
    let (_, whole) = get(&format!("{catalog}/events/7"), None).await;
    assert_eq!(
        whole["markets"].as_array().map(Vec::len),
        Some(1),
        "{whole}"
    );
    assert_eq!(whole["markets"][0]["slug"], "market-701");
}

fn most_traded(exchange: &Exchange) -> String {
    format!("{}/markets?order=volume24hr&limit=1", exchange.catalog)
}

/// A trade is in the record, and in the order of lists.
async fn trades_show(exchange: &Exchange) {
    let traders = visitors(exchange, 2).await;
    cross(&traders, ["700001", "700002"], (false, 4_550)).await;
    let market = until(exchange, |market| market["volumeNum"].as_f64() > Some(0.0)).await;
    assert_eq!(market["lastTradePrice"].to_string(), "0.455", "{market}");
    assert_eq!(market["outcomePrices"], "[\"0.455\",\"0.545\"]");
    let began = Instant::now();
    loop {
        let (_, rows) = get(&most_traded(exchange), None).await;
        if rows[0]["slug"] == SLUG && rows[0]["volume24hr"].as_f64() > Some(0.0) {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{rows}");
    }
}

/// What the operator closes and pays here is closed and paid on the catalog surface, half each too.
async fn closes_here(exchange: &Exchange) {
    let named = json!({ "condition_id": condition() });
    operator::done(exchange, "/markets/close", &named).await;
    let resolution = json!({ "condition_id": condition(), "payout": "half" });
    operator::done(exchange, "/markets/resolve", &resolution).await;
    let market = until(exchange, |market| {
        market["umaResolutionStatus"] == "resolved"
    })
    .await;
    assert_eq!(
        (&market["closed"], &market["acceptingOrders"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(market["outcomePrices"], "[\"0.5\",\"0.5\"]");
    let open = format!("{}/markets?closed=false&slug={SLUG}", exchange.catalog);
    let began = Instant::now();
    while get(&open, None).await.1 != json!([]) {
        assert!(began.elapsed() < PATIENCE, "still listed as open");
    }
}

async fn until(exchange: &Exchange, expected: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let market = own(exchange).await;
        if expected(&market) {
            return market;
        }
        assert!(began.elapsed() < PATIENCE, "{market}");
    }
}
