//! The user channel: filters that change, and confirmations of trades.

use std::time::{Duration, Instant};

use foretell_tests::demo::buy;
use foretell_tests::exchange::Options;
use foretell_tests::streams::{Connection, sequence};
use serde_json::{Value, json};

use super::{Market, Site};

/// Places a bid for 10 shares of the first or second token; returns the sequence of its frame.
async fn bid(site: &Site, trader: usize, token_text: &str, price: u16) -> u64 {
    let trader = &site.traders[trader];
    buy(trader, token_text, 1_000, price).await;
    trader.seen().0
}

/// The markets of the orders that a connection is sent while an order rests in each of two markets.
async fn markets_sent(
    site: &Site,
    connection: &mut Connection,
    markets: [&Market; 2],
) -> Vec<Value> {
    let mut last = 0;
    for market in markets {
        last = bid(site, 0, &market.tokens[0], 1_000).await;
    }
    let read = connection
        .until(|message| message["event_type"] == "heartbeat" && sequence(message) >= last)
        .await;
    let orders = read
        .iter()
        .filter(|message| message["event_type"] == "order");
    orders.map(|order| order["market"].clone()).collect()
}

#[tokio::test]
async fn a_filter_may_name_a_market_before_it_exists_and_narrows_again() {
    let site = Site::start(Options::demo()).await;
    let names = [7, 8].map(Site::condition);
    let mut subscription = site.own(0);
    subscription["markets"] = json!([names[0]]);
    let mut own = site.connect(&subscription).await;
    let subscribed = own.until_type("subscribed").await.pop().expect("an answer");
    assert_eq!(
        (&subscribed["markets"], &subscribed["unknown"]),
        (&json!("1"), &json!([names[0]]))
    );
    let (first, second) = (site.market(7).await, site.market(8).await);
    let both = [&first, &second];
    assert_eq!(
        markets_sent(&site, &mut own, both).await,
        [names[0].as_str()]
    );

    let remove = json!({ "operation": "unsubscribe", "markets": [names[0]] });
    own.send(&remove).await.expect("sent");
    let all = json!({ "operation": "subscribe", "acks": true });
    own.send(&all).await.expect("sent");
    own.until_type("subscribed").await;
    assert_eq!(
        markets_sent(&site, &mut own, both).await,
        [names[0].as_str(), &names[1]]
    );

    let unreadable = json!({ "operation": "subscribe", "markets": ["garbage"], "acks": true });
    own.send(&unreadable).await.expect("sent");
    own.until_type("subscribed").await;
    assert_eq!(
        markets_sent(&site, &mut own, both).await,
        [names[0].as_str(), &names[1]]
    );

    let narrow = json!({ "operation": "subscribe", "markets": [names[1]], "acks": true });
    own.send(&narrow).await.expect("sent");
    own.until_type("subscribed").await;
    assert_eq!(
        markets_sent(&site, &mut own, both).await,
        [names[1].as_str()]
    );
    assert!(site.exchange.stop().success());
}

#[tokio::test]
async fn a_trade_is_confirmed_later_and_again_after_a_resume() {
    let site = Site::start(Options::demo()).await;
    let market = site.market(1).await;
    let mut own = site.connect(&site.own(0)).await;
    own.until_type("subscribed").await;
    bid(&site, 0, &market.tokens[0], 4_000).await;
    let traded = bid(&site, 1, &market.tokens[1], 6_000).await;
    let is = |status: &'static str| {
        move |message: &Value| message["event_type"] == "trade" && message["status"] == status
    };
    own.until(is("MATCHED")).await;
    let matched = Instant::now();
    // A subscription that changes meanwhile loses no confirmation.
    let changes = [
        json!({ "operation": "subscribe" }),
        json!({ "operation": "subscribe", "markets": [Site::condition(1)] }),
        json!({ "operation": "unsubscribe", "markets": [Site::condition(1)] }),
    ];
    for change in changes {
        own.send(&change).await.expect("sent");
    }
    let read = own.until(is("CONFIRMED")).await;
    // What is sent 100 ms apart may arrive a little closer.
    assert!(matched.elapsed() >= Duration::from_millis(50));
    assert!(
        read.iter()
            .all(|message| message["event_type"] != "heartbeat" || sequence(message) < traded)
    );
    let confirmed = read.last().expect("it was read");
    assert_eq!(sequence(confirmed), traded);

    // Who has everything of the frame may lack its confirmation.
    let mut resumed = site.own(0);
    resumed["resume_from"] = json!(traded.to_string());
    let mut resumed = site.connect(&resumed).await;
    let read = resumed.until_type("heartbeat").await;
    let repeated: Vec<_> = read
        .iter()
        .filter(|message| message["event_type"] == "trade")
        .collect();
    assert_eq!(repeated.len(), 1, "{read:#?}");
    assert_eq!(
        (&repeated[0]["id"], &repeated[0]["status"]),
        (&confirmed["id"], &json!("CONFIRMED"))
    );
    assert_eq!(
        repeated[0]["transaction_hash"],
        confirmed["transaction_hash"]
    );
    assert!(site.exchange.stop().success());
}
