//! The demo's exchange as its clients see it: two wallets with money, and a plain market.

use foretell_model::{Side, TokenId};
use foretell_ops::demo::sample::{Sample, SampleEvent, SampleMarket};
use foretell_ops::demo::wallets::VISITORS;
use foretell_ops::trader::{Terms, Trader, token};
use reqwest::{Method, RequestBuilder};
use serde_json::Value;

use crate::exchange::{Exchange, Options, check_error_code};
use crate::operator;

/// A plain market at tick 0.01 with a minimum of 5 shares and no fee.
pub const MARKET: &str = "hottest-year-2027";

/// The markets that are no questions of a neg-risk event.
///
/// # Panics
/// The sample cannot be read.
#[must_use]
pub fn plain_markets() -> Vec<SampleMarket> {
    let plain = sample().events.into_iter().filter(|event| !event.neg_risk);
    plain.flat_map(|event| event.markets).collect()
}

/// [`MARKET`].
///
/// # Panics
/// The sample has it not.
#[must_use]
pub fn market() -> SampleMarket {
    let mut markets = plain_markets().into_iter();
    let found = markets.find(|market| market.slug == MARKET);
    found.expect("the market")
}

/// A neg-risk event with at least three questions.
///
/// # Panics
/// The sample has none.
#[must_use]
pub fn neg_risk_event() -> SampleEvent {
    let mut events = sample().events.into_iter();
    let found = events.find(|event| event.neg_risk && event.markets.len() > 2);
    found.expect("such an event")
}

/// All events and markets of a demo without a past.
///
/// # Panics
/// The sample cannot be read.
#[must_use]
pub fn sample() -> Sample {
    Sample::open().expect("the sample")
}

/// One of the demo's wallets on an exchange, with its first key.
///
/// # Panics
/// It gets no key.
pub async fn visitor(exchange: &Exchange, number: usize) -> Trader {
    visitor_with(exchange, number, 0).await
}

/// The same with its key of a nonce.
///
/// # Panics
/// It gets no key.
pub async fn visitor_with(exchange: &Exchange, number: usize, nonce: u64) -> Trader {
    let key = VISITORS[number].private_key;
    let trader = Trader::connect(&exchange.trading, key, nonce).await;
    trader.expect("a key")
}

/// The first wallets of the demo.
///
/// # Panics
/// One gets no key.
pub async fn visitors(exchange: &Exchange, count: usize) -> Vec<Trader> {
    let mut traders = Vec::new();
    for number in 0..count {
        traders.push(visitor(exchange, number).await);
    }
    traders
}

/// Places an order that must be taken; returns its id.
///
/// # Panics
/// It is not.
pub async fn place(trader: &Trader, terms: &Terms<'_>) -> String {
    let order = trader.sign(terms).expect("a signature");
    let (status, answer) = trader.place(&order).await.expect("an answer");
    assert_eq!(status, 200, "{answer}");
    order.id.to_string()
}

/// Buys lots of a token of a plain market; returns the id of the order.
///
/// # Panics
/// The order is not taken.
pub async fn buy(trader: &Trader, token_id: &str, lots: u64, price: u16) -> String {
    let token = token(token_id).expect("a token");
    place(trader, &Terms::limit(token, false, Side::Buy, lots, price)).await
}

/// Sends a request and reads its response, which is always JSON and names the state.
///
/// # Panics
/// It is not.
pub async fn send(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.expect("an answer");
    let headers = response.headers();
    for name in ["x-sequence", "x-epoch"] {
        assert!(headers.contains_key(name), "no {name}: {headers:?}");
    }
    check_error_code(&response);
    let status = response.status().as_u16();
    (status, response.json().await.expect("JSON"))
}

/// A running exchange, two of the demo's wallets, and [`MARKET`].
pub struct Demo {
    /// Its processes.
    pub exchange: Exchange,
    /// The first wallet, with its first key.
    pub trader: Trader,
    /// The second one.
    pub other: Trader,
    /// Condition of the market.
    pub condition: String,
    /// Its token ids.
    pub tokens: [String; 2],
}

impl Demo {
    /// Starts it on one gateway.
    pub async fn start() -> Self {
        Self::start_with(&Options::demo()).await
    }

    /// Starts it with these options.
    pub async fn start_with(options: &Options) -> Self {
        let exchange = Exchange::start(options);
        let market = market();
        Self {
            trader: visitor(&exchange, 0).await,
            other: visitor(&exchange, 1).await,
            condition: market.condition_id(),
            tokens: market.token_ids(),
            exchange,
        }
    }

    /// The first token.
    ///
    /// # Panics
    /// It is no token.
    #[must_use]
    pub fn yes(&self) -> TokenId {
        token(&self.tokens[0]).expect("a token")
    }

    /// The terms of an order for the first token.
    #[must_use]
    pub fn limit(&self, side: Side, lots: u64, price: u16) -> Terms<'static> {
        Terms::limit(self.yes(), false, side, lots, price)
    }

    /// Buys an outcome; returns the id of the order.
    ///
    /// # Panics
    /// The order is not taken.
    pub async fn buy(&self, trader: &Trader, outcome: usize, lots: u64, price: u16) -> String {
        buy(trader, &self.tokens[outcome], lots, price).await
    }

    /// A request to the trading surface without credentials.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        reqwest::Client::new().request(method, format!("{}{path}", self.exchange.trading))
    }

    /// A request of the first wallet.
    ///
    /// # Panics
    /// No response.
    pub async fn signed(&self, method: Method, path: &str, body: &str) -> (u16, Value) {
        let answer = self.trader.signed(method, path, "", body).await;
        answer.expect("an answer")
    }

    /// A read of the first wallet.
    ///
    /// # Panics
    /// No response.
    pub async fn own(&self, path: &str, query: &str) -> (u16, Value) {
        let query = format!("?{query}");
        let answer = self.trader.signed(Method::GET, path, &query, "").await;
        answer.expect("an answer")
    }

    /// The sequence of the newest durable command.
    pub async fn sequence(&self) -> u64 {
        operator::sequence(&self.exchange).await
    }
}
