//! The trading surface without matching: permissions of keys, rate limits, and the headers of every
//! response.

mod answers;
mod decreases;
mod keys;
mod limits;
mod price_history;
mod public_reads;
mod quotes;

use foretell_tests::exchange::Exchange;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

/// A request without credentials.
fn request(exchange: &Exchange, method: Method, path: &str) -> RequestBuilder {
    reqwest::Client::new().request(method, format!("{}{path}", exchange.trading))
}

/// The checked parts of a response.
struct Answered {
    status: u16,
    /// `x-sequence`, if both it and `x-epoch` are present.
    sequence: Option<u64>,
    body: Value,
}

async fn send(request: RequestBuilder) -> Answered {
    let response = request.send().await.expect("an answer");
    let number = |name: &str| response.headers().get(name)?.to_str().ok()?.parse().ok();
    let sequence = number("x-sequence").filter(|_| number("x-epoch").is_some());
    Answered {
        status: response.status().as_u16(),
        sequence,
        body: response.json().await.expect("JSON"),
    }
}
