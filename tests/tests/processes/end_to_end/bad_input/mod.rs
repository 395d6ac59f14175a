//! Hostile and malformed input on the order paths: each request gets its status and text, changes
//! nothing and crashes no process. One exchange of real processes serves each table.

mod batches;
mod credentials;
mod orders;
mod replays;
mod signatures;

use foretell_model::Side;
use foretell_ops::trader::SignedOrder;
use foretell_tests::demo::{self, Demo};
use reqwest::Method;
use serde_json::{Value, json};

/// An order that would be taken.
fn valid(site: &Demo) -> SignedOrder {
    let order = site.trader.sign(&site.limit(Side::Buy, 1_000, 2_000));
    order.expect("a signature")
}

/// Sends these bytes with these headers, which may belong to another request.
async fn send(
    site: &Demo,
    method: Method,
    path_and_query: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> (u16, Value) {
    let mut request = site.request(method, path_and_query).body(body.to_vec());
    for (name, value) in headers {
        request = request.header(name, value);
    }
    demo::send(request).await
}

/// State that must not change: the sequence of the exchange and the money of the trader.
async fn state(site: &Demo) -> Value {
    let query = "asset_type=COLLATERAL&signature_type=0";
    let (_, balance) = site.own("/balance-allowance", query).await;
    let (_, orders) = site.own("/data/orders", "").await;
    json!({ "sequence": site.sequence().await, "balance": balance, "orders": orders })
}

/// The body of an order with one field changed, inside the order or next to it.
fn with(order: &SignedOrder, field: &str, value: Value) -> String {
    let mut body = order.body.clone();
    let inside = body["order"].get(field).is_some();
    if inside {
        body["order"][field] = value
    } else {
        body[field] = value
    }
    body.to_string()
}
