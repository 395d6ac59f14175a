//! All data that a gateway serves, as in its responses.

use foretell_operator_client::http_client;
use foretell_ops::trader::{Trader, decimal};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::json;

use crate::gateway_start::life::{Life, MARKETS, condition, tokens};
use foretell_tests::in_process::TOKEN;

/// A request and its response: status, sequence and epoch, body.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Read {
    question: String,
    answer: (u16, String, String),
}

/// Reads everything from the gateway with these two surfaces.
pub(crate) async fn all([trading, operator]: [&str; 2], life: &Life) -> Vec<Read> {
    let traders = life.traders(trading).await;
    let mut reader = Reader {
        http: http_client().build().expect("a client"),
        base: trading,
        reads: Vec::new(),
    };
    reader.of_markets(life).await;
    for trader in &traders {
        reader.of_trader(trader, life).await;
    }
    reader.base = operator;
    for trader in &traders {
        let wallet = trader.address();
        reader.operator(&format!("/accounts/{wallet}")).await;
        reader.operator(&format!("/keys?owner={wallet}")).await;
    }
    reader.operator("/markets").await;
    reader.reads
}

/// The first response that differs between two gateways.
pub(crate) fn difference<'r>(one: &'r [Read], other: &'r [Read]) -> Option<(&'r Read, &'r Read)> {
    assert_eq!(one.len(), other.len());
    one.iter().zip(other).find(|(one, other)| one != other)
}

/// The responses without their sequences.
pub(crate) fn without_sequences(mut reads: Vec<Read>) -> Vec<Read> {
    for read in &mut reads {
        read.answer.1.clear();
    }
    reads
}

/// Asserts that the responses contain enough data to distinguish gateways.
pub(crate) fn assert_telling(reads: &[Read]) {
    let good = reads.iter().filter(|read| read.answer.0 == 200);
    assert!(good.count() > 150, "{reads:#?}");
}

struct Reader<'a> {
    http: Client,
    base: &'a str,
    reads: Vec<Read>,
}

impl Reader<'_> {
    async fn of_markets(&mut self, life: &Life) {
        for path in [
            "/markets",
            "/simplified-markets",
            "/sampling-markets",
            "/sampling-simplified-markets",
        ] {
            self.get(path).await;
        }
        let mut all = Vec::new();
        for market in 0..MARKETS {
            let condition = condition(market);
            for path in ["/markets", "/clob-markets"] {
                self.get(&format!("{path}/{condition}")).await;
            }
            for token in tokens(market).map(decimal) {
                for path in [
                    "/book",
                    "/midpoint",
                    "/spread",
                    "/last-trade-price",
                    "/tick-size",
                    "/neg-risk",
                    "/fee-rate",
                ] {
                    self.get(&format!("{path}?token_id={token}")).await;
                }
                for side in ["BUY", "SELL"] {
                    self.get(&format!("/price?token_id={token}&side={side}"))
                        .await;
                    all.push(json!({ "token_id": token, "side": side }));
                }
                self.get(&format!("/markets-by-token/{token}")).await;
                // Data relative to the current time would differ from minute to minute.
                for minutes in [1, 5, 30] {
                    let path = "/prices-history";
                    let span = format!("startTs=0&endTs={}&fidelity={minutes}", life.last);
                    self.get(&format!("{path}?market={token}&{span}")).await;
                }
            }
        }
        for path in [
            "/books",
            "/prices",
            "/midpoints",
            "/spreads",
            "/last-trades-prices",
        ] {
            let request = self.http.post(format!("{}{path}", self.base)).json(&all);
            self.note(path.to_owned(), request).await;
        }
    }

    async fn of_trader(&mut self, trader: &Trader, life: &Life) {
        for path in [
            "/data/orders",
            "/data/trades",
            "/auth/api-keys",
            "/auth/ban-status/closed-only",
        ] {
            self.signed(trader, path, "").await;
        }
        for market in 0..MARKETS {
            let query = format!("?market={}", condition(market));
            self.signed(trader, "/data/trades", &query).await;
            for token in tokens(market).map(decimal) {
                let query = format!("?asset_type=CONDITIONAL&token_id={token}&signature_type=0");
                self.signed(trader, "/balance-allowance", &query).await;
                let query = format!("?asset_id={token}&after=0");
                self.signed(trader, "/data/trades", &query).await;
            }
        }
        let query = "?asset_type=COLLATERAL&signature_type=0";
        self.signed(trader, "/balance-allowance", query).await;
        for order in &life.orders {
            self.signed(trader, &format!("/data/order/{order}"), "")
                .await;
        }
    }

    async fn get(&mut self, path: &str) {
        let request = self.http.get(format!("{}{path}", self.base));
        self.note(path.to_owned(), request).await;
    }

    async fn operator(&mut self, path: &str) {
        let request = self.http.get(format!("{}{path}", self.base));
        self.note(path.to_owned(), request.bearer_auth(TOKEN)).await;
    }

    async fn signed(&mut self, trader: &Trader, path: &str, query: &str) {
        let mut request = self.http.get(format!("{}{path}{query}", self.base));
        for (name, value) in trader.headers(Method::GET.as_str(), path, b"") {
            request = request.header(name, value);
        }
        let question = format!("{path}{query} of {}", trader.address());
        self.note(question, request).await;
    }

    async fn note(&mut self, question: String, request: RequestBuilder) {
        let response = request.send().await.expect("an answer");
        let header = |name: &str| {
            let value = response.headers().get(name);
            value
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
                .to_owned()
        };
        let (status, place) = (
            response.status().as_u16(),
            format!("{} {}", header("x-sequence"), header("x-epoch")),
        );
        let body = response.text().await.expect("a body");
        self.reads.push(Read {
            question,
            answer: (status, place, body),
        });
    }
}
