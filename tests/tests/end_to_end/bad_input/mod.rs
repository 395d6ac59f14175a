//! Hostile and malformed input on the order paths: each request gets its status and text, changes
//! nothing and crashes no process. One exchange of real processes serves each table.

mod batches;
mod credentials;
mod orders;
mod replays;
mod signatures;

use foretell_model::{Side, TokenId};
use foretell_ops::demo::sample::Sample;
use foretell_ops::demo::wallets::VISITORS;
use foretell_ops::trader::{SignedOrder, Terms, Trader, token};
use foretell_tests::exchange::{Exchange, Options, check_error_code};
use reqwest::Method;
use serde_json::{Value, json};

/// A market at tick 0.01 with a minimum of 5 shares and no fee.
const MARKET: &str = "hottest-year-2027";

struct Site {
    exchange: Exchange,
    trader: Trader,
    other: Trader,
    token: TokenId,
}

impl Site {
    async fn start() -> Self {
        let exchange = Exchange::start(env!("CARGO_BIN_EXE_foretell-under-test"), &Options::demo());
        let connect =
            |index: usize| Trader::connect(&exchange.trading, VISITORS[index].private_key, 0);
        let (trader, other) = (
            connect(0).await.expect("a key"),
            connect(1).await.expect("a key"),
        );
        let sample = Sample::load().expect("the sample");
        let market = sample
            .events
            .iter()
            .flat_map(|event| &event.markets)
            .find(|market| market.slug == MARKET);
        let [yes, _] = market.expect("the market").token_ids();
        Self {
            trader,
            other,
            token: token(&yes).expect("a token"),
            exchange,
        }
    }

    fn limit(&self, side: Side, lots: u64, price: u16) -> Terms<'static> {
        Terms::limit(self.token, false, side, lots, price)
    }

    fn valid(&self) -> SignedOrder {
        self.trader
            .sign(&self.limit(Side::Buy, 1_000, 2_000))
            .expect("a signature")
    }

    /// Sends these bytes with these headers, which may belong to another request.
    async fn send(
        &self,
        method: Method,
        path_and_query: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> (u16, Value) {
        let url = format!("{}{path_and_query}", self.exchange.trading);
        let request = reqwest::Client::new()
            .request(method, url)
            .body(body.to_vec());
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        let response = request.send().await.expect("an answer");
        check_error_code(&response);
        let status = response.status().as_u16();
        (status, response.json().await.expect("JSON"))
    }

    /// State that must not change: the sequence of the exchange and the money of the trader.
    async fn state(&self) -> Value {
        let query = "?asset_type=COLLATERAL&signature_type=0";
        let (_, balance) = self
            .trader
            .signed(Method::GET, "/balance-allowance", query, "")
            .await
            .expect("an answer");
        let (_, orders) = self
            .trader
            .signed(Method::GET, "/data/orders", "", "")
            .await
            .expect("an answer");
        let status: Value = reqwest::Client::new()
            .get(format!("{}/status", self.exchange.operator))
            .bearer_auth(self.exchange.operator_token())
            .send()
            .await
            .expect("an answer")
            .json()
            .await
            .expect("JSON");
        json!({ "sequence": status["engine"]["sequence"], "balance": balance, "orders": orders })
    }
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
