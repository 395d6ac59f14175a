//! What other members of the family offer on the data surface, from real processes.

use foretell_tests::demo::{MARKET, market, send};
use foretell_tests::exchange::{Exchange, Options};
use reqwest::Client;
use serde_json::{Value, json};

use crate::end_to_end::data_surface::{get, mint, runtime};
use foretell_ops::demo::wallets::VISITORS;
use foretell_tests::operator;

/// An answer of 200 that shows at least `sequence`.
async fn ask(exchange: &Exchange, sequence: u64, path: &str) -> Value {
    let request = get(exchange, path).header("x-min-sequence", sequence);
    let (status, answer) = send(request).await;
    assert_eq!(status, 200, "{path}: {answer}");
    answer
}

/// The id of the market's event in the catalog.
async fn event(exchange: &Exchange) -> String {
    let url = format!("{}/events?limit=500", exchange.catalog);
    let events: Value = Client::new()
        .get(url)
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    let has_market = |event: &&Value| {
        let markets = event["markets"].as_array().expect("markets");
        markets.iter().any(|market| market["slug"] == MARKET)
    };
    let found = events.as_array().expect("events").iter().find(has_market);
    found.expect("an event")["id"]
        .as_str()
        .expect("text")
        .to_owned()
}

fn count(rows: &Value) -> usize {
    rows.as_array().expect("rows").len()
}

#[test]
fn leaderboards_events_and_sums_show_a_trade() {
    let exchange = Exchange::demo();
    runtime().block_on(async {
        root(&exchange).await;
        let market = market();
        mint(&exchange, &market).await;
        let sequence = operator::sequence(&exchange).await;
        let [maker, taker] = [0, 1].map(|visitor| VISITORS[visitor].address.to_lowercase());
        leaderboards(&exchange, sequence, [&maker, &taker]).await;
        let (condition, id) = (market.condition_id(), event(&exchange).await);
        for (filter, rows) in [(id.as_str(), 1), ("999999999", 0)] {
            for path in ["/trades?", "/positions?user=USER&", "/activity?user=USER&"] {
                let path = format!("{path}eventId={filter}").replace("USER", &maker);
                assert_eq!(
                    count(&ask(&exchange, sequence, &path).await),
                    rows,
                    "{path}"
                );
            }
        }
        let by_event = ask(&exchange, sequence, &format!("/live-volume?id={id}")).await;
        assert_eq!(by_event[0]["total"], 4);
        let of_market = json!({ "market": condition, "value": 4 });
        assert!(
            by_event[0]["markets"]
                .as_array()
                .expect("markets")
                .contains(&of_market)
        );
        let all = ask(&exchange, sequence, "/oi").await;
        assert_eq!(all[0], json!({ "market": "GLOBAL", "value": 10 }));
        let locked = json!({ "market": condition, "value": 10 });
        assert!(all.as_array().expect("rows").contains(&locked));
        let path = format!("/activity?user={taker}&sortBy=CASH&sortDirection=ASC");
        assert_eq!(ask(&exchange, sequence, &path).await[0]["usdcSize"], 4);
    });
    assert!(exchange.stop().success());
}

/// The root answers with an object, whatever is accepted.
async fn root(exchange: &Exchange) {
    for accept in ["application/json", "*/*", "text/html"] {
        let request = get(exchange, "/").header("accept", accept);
        let expected = (200, json!({ "data": "OK" }));
        assert_eq!(send(request).await, expected, "{accept}");
    }
    assert_eq!(send(get(exchange, "/ok")).await, (200, json!("OK")));
}

/// The maker bought for 6, the taker for 4; neither has realized a profit.
async fn leaderboards(exchange: &Exchange, sequence: u64, [maker, taker]: [&str; 2]) {
    let row = |rank: &str, wallet: &str, volume: u64| {
        json!({
            "rank": rank, "proxyWallet": wallet, "userName": "", "vol": volume, "pnl": 0,
            "profileImage": "", "xUsername": "", "verifiedBadge": false,
        })
    };
    let (first, second) = (row("1", maker, 6), row("2", taker, 4));
    for path in ["/leaderboard", "/v1/leaderboard"] {
        // A day may begin between the trade and the question; a week does not end.
        let path = format!("{path}?timePeriod=WEEK&orderBy=VOL");
        let all = ask(exchange, sequence, &path).await;
        assert_eq!(all, json!([first, second]), "{path}");
        let own = ask(exchange, sequence, &format!("{path}&user={taker}")).await;
        assert_eq!(own, json!([second]));
        let next = ask(exchange, sequence, &format!("{path}&limit=1&offset=1")).await;
        assert_eq!(next, json!([second]));
    }
    for path in ["/v1/builders/leaderboard", "/v1/builders/volume"] {
        assert_eq!(ask(exchange, sequence, path).await, json!([]), "{path}");
    }
}

#[test]
fn assets_are_token_ids_when_they_are_set_to_be() {
    let options = Options::demo().with("FORETELL_COMPATIBILITY", "polymarket");
    let exchange = Exchange::start(&options);
    runtime().block_on(async {
        let market = market();
        mint(&exchange, &market).await;
        let sequence = operator::sequence(&exchange).await;
        let [yes, no] = market.token_ids();
        let maker = VISITORS[0].address;
        let held = ask(&exchange, sequence, &format!("/positions?user={maker}")).await;
        assert_eq!(
            (&held[0]["asset"], &held[0]["oppositeAsset"]),
            (&json!(yes), &json!(no))
        );
        let end = held[0]["endDate"].as_str().expect("a date");
        assert_eq!(end.len(), "2027-12-31".len(), "{end}");
        let condition = market.condition_id();
        for name in [&yes, &condition, &format!("{condition}:1")] {
            let fills = ask(&exchange, sequence, &format!("/trades?market={name}")).await;
            assert_eq!(fills[0]["asset"], json!(no), "{name}");
            let holders = ask(&exchange, sequence, &format!("/holders?market={name}")).await;
            assert_eq!(holders[0]["token"], json!(yes), "{name}");
        }
        // The page's own reads have the interface's forms: they list what is closed.
        let close = json!({ "condition_id": condition });
        operator::done(&exchange, "/markets/close", &close).await;
        let path = format!("/ui/api/catalog/markets?condition_ids={condition}");
        let listed = reqwest::get(format!("{}{path}", exchange.trading)).await;
        let listed: Value = listed.expect("an answer").json().await.expect("JSON");
        assert_eq!(listed[0]["conditionId"], json!(condition), "{listed}");
    });
    assert!(exchange.stop().success());
}
