//! A recorded file of a real upstream, if present: imported into a running exchange, every fact of
//! it appears on the catalog surface, and a market of it is listed, read and traded.

use foretell_tests::demo::visitors;
use foretell_tests::exchange::Exchange;
use serde_json::{Value, json};

use crate::end_to_end::catalog::trading::cross;
use crate::end_to_end::catalog::{get, recorded_rows, run, runtime};

/// Fields of a market that the API returns unchanged; dates have their own form.
const MARKET: [&str; 14] = [
    "id",
    "question",
    "conditionId",
    "slug",
    "resolutionSource",
    "image",
    "icon",
    "description",
    "outcomes",
    "clobTokenIds",
    "active",
    "closed",
    "archived",
    "questionID",
];
const DATES: [&str; 4] = ["startDate", "endDate", "createdAt", "updatedAt"];

#[test]
fn a_recorded_file_is_served_fact_by_fact_and_traded() {
    let name = "gamma/events-20-202503.json.zst";
    let (Some(file), Some(events)) = (foretell_fixtures::recorded(name), recorded_rows(name))
    else {
        return;
    };
    let exchange = Exchange::demo();
    let (ok, report) = run(
        &exchange,
        &["catalog", "import", file.to_str().expect("UTF-8")],
    );
    assert!(ok, "{report}");
    let records = &report["catalog"]["records"];
    assert_eq!(
        (&records["events"]["added"], &records["markets"]["added"]),
        (&json!(20), &json!(339))
    );
    assert_eq!(records["skipped"], 0);
    let (agrees, found) = run(&exchange, &["catalog", "check"]);
    assert!(agrees, "{found}");
    runtime().block_on(async {
        for event in &events {
            served(&exchange, event).await;
        }
        traded(&exchange, &events).await;
    });
}

/// The API returns every fact of an event's markets.
async fn served(exchange: &Exchange, event: &Value) {
    let id = event["id"].as_str().expect("an id");
    let (_, answered) = get(&format!("{}/events/{id}", exchange.catalog), None).await;
    let markets = answered["markets"].as_array().expect("markets");
    for market in event["markets"].as_array().expect("markets") {
        let same = |other: &&Value| other["id"] == market["id"];
        let answered = markets.iter().find(same).expect("the market");
        let is_stopped =
            market["acceptingOrders"] == false || !market["umaResolutionStatus"].is_null();
        let never_opens = market["closed"] == false && is_stopped;
        for name in MARKET {
            match &market[name] {
                Value::Null => {
                    assert!(
                        [json!(""), json!(false), json!("[]"), Value::Null]
                            .contains(&answered[name])
                    )
                }
                // A question that takes no orders upstream, or whose answer is proposed, never opened here.
                _ if name == "active" && never_opens => {}
                // The exchange has its own spacing.
                recorded if name == "outcomes" => {
                    let labels = |list: &Value| list.as_str().map(|list| list.replace(", ", ","));
                    assert_eq!(labels(recorded), labels(&answered[name]));
                }
                recorded => assert_eq!(recorded, &answered[name], "{name} of {}", market["id"]),
            }
        }
        for name in DATES {
            let date = |text: &Value| text.as_str().and_then(foretell_catalog::record::read_date);
            let [recorded, answered] = [market, answered].map(|record| date(&record[name]));
            // A step of its life at the exchange is an update, too.
            let is_later = name == "updatedAt" && answered > recorded;
            assert!(
                is_later || answered == recorded,
                "{name} of {}",
                market["id"]
            );
        }
    }
}

/// A client finds an open market of the file, reads its tick size, and trades it.
async fn traded(exchange: &Exchange, events: &[Value]) {
    let recorded = events
        .iter()
        .flat_map(|event| event["markets"].as_array().into_iter().flatten());
    let (_, listed) = get(&format!("{}/sampling-markets", exchange.trading), None).await;
    let listed = listed["data"].as_array().expect("markets");
    let find = |market: &Value| {
        let same = |other: &&Value| other["condition_id"] == market["conditionId"];
        listed.iter().find(same).cloned()
    };
    let mut both = recorded.filter_map(|market| Some((market, find(market)?)));
    let (record, market) = both.next().expect("an open market");
    assert_eq!(market["question"], record["question"]);
    let tokens = [0, 1].map(|place| {
        market["tokens"][place]["token_id"]
            .as_str()
            .expect("a token")
    });
    let url = format!("{}/tick-size?token_id={}", exchange.trading, tokens[0]);
    let (_, tick) = get(&url, None).await;
    let recorded = &record["orderPriceMinTickSize"];
    assert_eq!(tick["minimum_tick_size"].to_string(), recorded.to_string());
    let traders = visitors(exchange, 2).await;
    cross(&traders, tokens, (record["negRisk"] == true, 4_500)).await;
    let (_, trades) = get(&format!("{}/trades?limit=1", exchange.data_surface), None).await;
    assert_eq!(trades[0]["title"], record["question"]);
}
