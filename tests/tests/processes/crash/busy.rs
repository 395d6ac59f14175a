//! An exchange under load, for the tests that kill its processes.
#![allow(dead_code, reason = "every test starts it in one way of two")]

use std::sync::Arc;

use foretell_ops::demo::wallets::VISITORS;
use foretell_ops::trader::Trader;
use foretell_tests::demo::{plain_markets, visitors};
use foretell_tests::exchange::{Exchange, Options};
use foretell_tests::ledger::{Ledger, check_money};
use foretell_tests::load::{self, LoadMarket, Shared};
use foretell_tests::random::Random;

/// Micros each visitor of the demo is funded with.
pub(crate) const FUNDS: u64 = 10_000_000_000;

/// Number of kills: `ordinary` by default, more by `FORETELL_KILL_ROUNDS`.
pub(crate) fn rounds(ordinary: u64) -> u64 {
    std::env::var("FORETELL_KILL_ROUNDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(ordinary)
}

/// The exchange, its traders and their load.
pub(crate) struct Site {
    pub(crate) exchange: Exchange,
    pub(crate) shared: Shared,
    traders: Arc<Vec<Trader>>,
    markets: Arc<Vec<LoadMarket>>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Site {
    /// Starts the exchange and the load.
    pub(crate) async fn start(random: &mut Random) -> Self {
        let exchange = Exchange::start(&Options::two_gateways());
        Self::start_on(exchange, random).await
    }

    /// The same on a running exchange with the demo's markets and wallets.
    pub(crate) async fn start_on(exchange: Exchange, random: &mut Random) -> Self {
        let traders = Arc::new(visitors(&exchange, VISITORS.len()).await);
        let markets: Vec<_> = plain_markets()
            .into_iter()
            .filter(|market| market.fee_rate_ppm == 0 && market.tick == "0.01")
            .take(3)
            .map(|market| LoadMarket::new(market.token_ids()))
            .collect();
        let mut site = Self {
            exchange,
            shared: Shared::default(),
            traders,
            markets: Arc::new(markets),
            tasks: Vec::new(),
        };
        site.load(random);
        site
    }

    /// Pauses the load between two responses, compares the exchange with the ledger, and resumes.
    pub(crate) async fn check(&mut self) {
        self.pause().await;
        self.compare().await;
        let answers = *self.shared.answers.borrow();
        self.load(&mut Random::new(answers));
    }

    /// The same after the exchange was stopped and another was started on its data.
    pub(crate) async fn check_on(mut self, start: impl FnOnce() -> Exchange) -> Self {
        self.pause().await;
        let _ = self.exchange.stop();
        let exchange = start();
        let traders = Arc::new(visitors(&exchange, VISITORS.len()).await);
        let mut site = Self {
            exchange,
            traders,
            ..self
        };
        site.check().await;
        site
    }

    fn load(&mut self, random: &mut Random) {
        self.shared.stop.send_replace(false);
        self.tasks = load::start(&self.traders, &self.markets, &self.shared, random);
    }

    /// Stops the load, compares, stops the exchange cleanly, and compares after a restart.
    pub(crate) async fn finish(mut self) {
        self.pause().await;
        self.compare().await;
        assert!(self.exchange.stop().success(), "a clean stop");
    }

    /// The two tokens of each market.
    pub(crate) fn tokens(&self) -> Vec<[String; 2]> {
        let texts = self.markets.iter().map(|market| market.texts.clone());
        texts.collect()
    }

    async fn pause(&mut self) {
        self.shared.stop.send_replace(true);
        for task in self.tasks.drain(..) {
            task.await.expect("the load saw nothing wrong");
        }
    }

    async fn compare(&self) {
        let ledger: Ledger = std::mem::take(&mut *self.shared.ledger.lock());
        ledger.check(&self.traders).await;
        *self.shared.ledger.lock() = ledger;
        check_money(
            &self.traders,
            &self.tokens(),
            FUNDS * self.traders.len() as u64,
        )
        .await;
    }
}
