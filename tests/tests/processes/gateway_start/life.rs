//! Activity on the exchange: two wallets that trade in a few markets.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use foretell_model::{Side, TokenId};
use foretell_ops::trader::{Terms, Trader, decimal};
use foretell_tests::exchange::PATIENCE;
use reqwest::Method;
use serde_json::json;

use crate::gateway_start::site::GatewayProcess;

const KEYS: [&str; 2] = [
    "0101010101010101010101010101010101010101010101010101010101010101",
    "0202020202020202020202020202020202020202020202020202020202020202",
];
pub(crate) const MARKETS: u8 = 2;

pub(crate) fn condition(market: u8) -> String {
    format!("0x{:0>64x}", 0xC0 + market)
}

pub(crate) fn tokens(market: u8) -> [TokenId; 2] {
    [0x10, 0x20].map(|outcome| TokenId([outcome + market; 32]))
}

/// The ids of all orders so far.
#[derive(Default)]
pub(crate) struct Life {
    pub(crate) orders: Vec<String>,
    rounds: u16,
    /// Time of the last activity, in seconds: histories up to a past moment do not change.
    pub(crate) last: u64,
}

impl Life {
    /// Opens the markets and funds the wallets.
    pub(crate) async fn begin(gateway: &GatewayProcess) -> Self {
        for market in 0..MARKETS {
            let registration = json!({
                // With an id of an upstream: own markets would come from a catalog, which only some of the
                // gateways have.
                "market_id": market + 1,
                "condition_id": condition(market), "token_ids": tokens(market).map(decimal),
                "question": format!("Question {market}?"), "slug": format!("market-{market}"),
                "outcomes": ["Yes", "No"],
            });
            gateway.done("/markets", registration).await;
        }
        let life = Self::default();
        for trader in life.traders(&gateway.trading).await {
            let wallet = trader.address();
            let deposit = json!({ "wallet": wallet, "amount": "100000", "reference": wallet });
            gateway.done("/accounts/deposit", deposit).await;
        }
        life
    }

    /// The wallets, connected to a gateway's trading surface as soon as it accepts them.
    pub(crate) async fn traders(&self, trading: &str) -> Vec<Trader> {
        let (mut traders, began) = (Vec::new(), Instant::now());
        for key in KEYS {
            let trader = loop {
                match Trader::connect(trading, key, 0).await {
                    Ok(trader) => break trader,
                    Err(error) => assert!(began.elapsed() < PATIENCE, "{error}"),
                }
            };
            traders.push(trader);
        }
        traders
    }

    /// A few rounds: an order that rests, one that takes a part of it, one that stays, and
    /// sometimes a cancel.
    pub(crate) async fn go_on(&mut self, gateway: &GatewayProcess, rounds: u16) {
        let traders = self.traders(&gateway.trading).await;
        for _ in 0..rounds {
            self.rounds += 1;
            let round = self.rounds;
            let market = u8::try_from(round % u16::from(MARKETS)).expect("few markets");
            let [yes, no] = tokens(market);
            let price = 3_000 + 100 * (round % 40);
            let (maker, taker) = match round % 3 {
                0 => (&traders[1], &traders[0]),
                _ => (&traders[0], &traders[1]),
            };
            let buy = |token, lots, price| Terms::limit(token, false, Side::Buy, lots, price);
            let rests = self.place(maker, &buy(yes, 1_000, price)).await;
            self.place(taker, &buy(no, 600, 10_000 - price)).await;
            self.place(taker, &buy(no, 700, 500 + 100 * (round % 9)))
                .await;
            if !round.is_multiple_of(4) {
                let body = json!({ "orderID": rests }).to_string();
                let cancel = maker.signed(Method::DELETE, "/order", "", &body);
                assert_eq!(cancel.await.expect("an answer").0, 200);
            }
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        self.last = now.expect("after 1970").as_secs();
    }

    async fn place(&mut self, trader: &Trader, terms: &Terms<'_>) -> String {
        let order = trader.sign(terms).expect("a signature");
        let (status, answer) = trader.place(&order).await.expect("an answer");
        assert_eq!(status, 200, "{answer}");
        let id = order.id.to_string();
        self.orders.push(id.clone());
        id
    }
}
