//! Orders that end with a connection of the user channel (docs/api/streams.md).

use foretell_tests::demo::buy;
use foretell_tests::streams::Connection;
use serde_json::{Value, json};

use super::Site;

/// Reads until the order ended.
async fn until_canceled(watching: &mut Connection, order: &str) {
    let is_end = |it: &Value| it["id"] == order && it["type"] == "CANCELLATION";
    watching.until(is_end).await;
}

/// Whether the connection says that orders end with it.
async fn cancels(connection: &mut Connection) -> Value {
    let read = connection.until_type("subscribed").await;
    read.last().expect("an answer")["cancel_on_disconnect"].clone()
}

#[tokio::test]
async fn orders_end_with_the_connection_that_asked_for_it() {
    let mut site = Site::two_gateways().await;
    let token = site.market(41).await.tokens[0].clone();
    let bid = async |site: &Site| buy(&site.traders[0], &token, 500, 1_000).await;
    let mut watching = site.connect(&site.own(0)).await;
    assert_eq!(cancels(&mut watching).await, json!(false));
    let mut asking = site.own(0);
    asking["cancel_on_disconnect"] = json!(true);

    // Another owner's order stays, and one after the wish was taken back.
    let others = buy(&site.traders[1], &token, 500, 1_000).await;
    let mut changed = site.connect(&asking).await;
    assert_eq!(cancels(&mut changed).await, json!(true));
    let taken_back = json!({ "type": "user", "cancel_on_disconnect": false });
    changed.send(&taken_back).await.expect("sent");
    assert_eq!(cancels(&mut changed).await, json!(false));
    let first = bid(&site).await;
    drop(changed);

    let mut connection = site.connect(&asking).await;
    assert_eq!(cancels(&mut connection).await, json!(true));
    let (_, read) = site.read(0, &first).await;
    assert_eq!(read["status"], "LIVE");
    let second = bid(&site).await;
    drop(connection);
    for order in [&first, &second] {
        until_canceled(&mut watching, order).await;
    }

    // Without an engine the cancel waits for the next one.
    let third = bid(&site).await;
    let mut connection = site.connect(&asking).await;
    assert_eq!(cancels(&mut connection).await, json!(true));
    site.exchange.kill("engine");
    drop(connection);
    site.exchange.wait_restarted("engine");
    until_canceled(&mut watching, &third).await;
    let (_, read) = site.read(1, &others).await;
    assert_eq!(read["status"], "LIVE");
    drop(watching);
    site.exchange.end();
}
