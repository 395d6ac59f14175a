//! The demo's short markets, opened one after the other, so that one always ends soon and some have
//! ended. This is the operator's part of the demo.
//!
//! A short market is about its own price: when it ends it resolves to Yes if the midpoint is above
//! 0.50, to No if below, else half each. A market left open by an earlier run continues, or ends at
//! the next start if it is overdue. Resolved markets stay registered, so after a while markets last
//! longer: a month of demo makes hundreds of markets, not thousands.
//!
//! A short market is the operator's own: the catalog has it from the exchange.

use std::time::Duration;

use foretell_journal::wall_clock::since_epoch;
use foretell_model::{Lots, MarketState, Payout};
use foretell_operator_client::{OperatorClient, http_client_of};
use foretell_wire::operator::{
    MarketDescription, MarketName, MarketRegistration, MarketTerms, OperatorCommand, Readable as _,
    Resolution, TickSize, payout_word,
};
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedSender;
use tracing::{info, warn};

use crate::config::Config;
use crate::demo::sample::{SampleEvent, SampleMarket};
use crate::failure::Failure;
use crate::operator::client;

/// Slug prefix, followed by the opening time in Unix seconds.
const SLUG: &str = "demo-round-";
/// Short markets per run before later ones last [`LONGER`] times as long.
const SHORT_ROUNDS: u32 = 12;
const LONGER: u32 = 6;
/// Delay after an error.
const RETRY: Duration = Duration::from_secs(2);

/// Messages to the bots.
pub(super) enum MarketNotification {
    /// A short market is open.
    Opened(SampleEvent),
    /// A short market is resolved: its shares can be redeemed.
    Ended(SampleMarket),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MarketDurations {
    pub(super) first: Duration,
    pub(super) others: Duration,
}

impl MarketDurations {
    /// Duration of a run's market, numbered from 0.
    const fn of(self, number: u32) -> Duration {
        match number {
            0 => self.first,
            1..=SHORT_ROUNDS => self.others,
            _ => self.others.saturating_mul(LONGER),
        }
    }
}

/// Opens and ends short markets.
pub(super) struct MarketHost {
    client: OperatorClient,
    http: reqwest::Client,
    trading: String,
    news: UnboundedSender<MarketNotification>,
}

impl MarketHost {
    /// A host for the exchange of these settings.
    pub(super) fn new(
        config: &Config,
        trading: &str,
        news: UnboundedSender<MarketNotification>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            client: client::connect_to(config.operator.listen, config)?,
            http: http_client_of(trading)
                .build()
                .map_err(|error| Failure::new(format!("cannot make an HTTP client: {error}")))?,
            trading: trading.to_owned(),
            news,
        })
    }

    /// Forever: opens a market or continues the open one, waits, ends it. Retries while the
    /// exchange is restarting.
    pub(super) async fn run(self, lengths: MarketDurations) {
        for number in 0.. {
            let ends = match self.retry(|| self.end_due()).await {
                Some(ends) => ends,
                None => {
                    let opened = since_epoch().as_secs();
                    let ends = opened + lengths.of(number).as_secs();
                    self.retry(|| self.open(opened, ends)).await;
                    ends
                }
            };
            let left = ends.saturating_sub(since_epoch().as_secs());
            tokio::time::sleep(Duration::from_secs(left)).await;
        }
    }

    async fn retry<T, F: Future<Output = Result<T, Failure>>>(&self, step: impl Fn() -> F) -> T {
        loop {
            match step().await {
                Ok(done) => return done,
                Err(failure) => warn!("retrying a short market: {failure}"),
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    async fn open(&self, opened: u64, ends: u64) -> Result<(), Failure> {
        let event = round(opened, ends);
        let market = &event.markets[0];
        let registration = Box::new(registration(&event)?);
        let command = OperatorCommand::RegisterMarket(registration);
        self.client.send(&command).await?;
        info!(
            slug = market.slug,
            seconds = ends - opened,
            "short market opened"
        );
        // The process ends when the bots' receiver is gone.
        let _ = self.news.send(MarketNotification::Opened(event));
        Ok(())
    }

    /// Ends every overdue market that is not resolved. If one is still open, announces it to the
    /// bots and returns the second it ends.
    async fn end_due(&self) -> Result<Option<u64>, Failure> {
        let mut goes_on = None;
        for row in self.client.markets("").await? {
            let opened = row.slug.strip_prefix(SLUG);
            let opened = opened.and_then(|text| text.parse().ok());
            let (Some(opened), true) = (opened, row.status != MarketState::Resolved) else {
                continue;
            };
            let ends = row.end_date.as_deref().and_then(ends).unwrap_or(opened);
            if row.status == MarketState::Active && ends > since_epoch().as_secs() {
                let _ = self
                    .news
                    .send(MarketNotification::Opened(round(opened, ends)));
                goes_on = Some(ends);
            } else {
                self.end(opened, ends).await?;
            }
        }
        Ok(goes_on)
    }

    async fn end(&self, opened: u64, ends: u64) -> Result<(), Failure> {
        let mut event = round(opened, ends);
        let market = &event.markets[0];
        let condition_id = market.condition()?;
        let payout = self.payout(market).await?;
        let close = OperatorCommand::CloseMarket(MarketName { condition_id });
        self.client.send(&close).await?;
        let resolve = OperatorCommand::ResolveMarket(Resolution::new(condition_id, payout));
        self.client.send(&resolve).await?;
        let payout = payout_word(payout);
        info!(slug = market.slug, payout, "short market resolved");
        let _ = self
            .news
            .send(MarketNotification::Ended(event.markets.remove(0)));
        Ok(())
    }

    /// Payout by the current midpoint.
    async fn payout(&self, market: &SampleMarket) -> Result<Payout, Failure> {
        let [yes, _] = market.token_ids();
        let url = format!("{}/midpoint?token_id={yes}", self.trading);
        let failure = |error: reqwest::Error| Failure::new(format!("no midpoint: {error}"));
        let response = self.http.get(url).send().await.map_err(failure)?;
        // A book without two sides has no midpoint and answers an error.
        let answer: Value = response.json().await.map_err(failure)?;
        Ok(payout_at(answer["mid"].as_str()))
    }
}

/// An end date in Unix seconds.
fn ends(date: &str) -> Option<u64> {
    let ends: Timestamp = date.parse().ok()?;
    u64::try_from(ends.as_second()).ok()
}

fn time(seconds: u64) -> Timestamp {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or_default()
}

/// The event of the short market that opened at `opened`, with its one market.
fn round(opened: u64, ends: u64) -> SampleEvent {
    let clock = time(opened).strftime("%H:%M:%S");
    let slug = format!("{SLUG}{opened}");
    SampleEvent {
        id: opened,
        slug: slug.clone(),
        title: format!("The round of {clock} UTC"),
        description: "A short market of the demo.".to_owned(),
        tags: Vec::new(),
        neg_risk: false,
        markets: vec![SampleMarket {
            slug,
            question: format!("Does the round of {clock} UTC end above 0.50?"),
            description: "It resolves to Yes if the midpoint of its Yes is above 0.50 when its time is over, to No if it is below, to half each otherwise.".to_owned(),
            price: "0.50".to_owned(),
            outcomes: ["Yes".to_owned(), "No".to_owned()],
            tick: "0.01".to_owned(),
            minimum_size: 5,
            end_date: time(ends).to_string(),
            fee_rate_ppm: 0,
            fee_exponent: 0,
            ended: None,
        }],
    }
}

fn registration(event: &SampleEvent) -> Result<MarketRegistration, Failure> {
    let market = &event.markets[0];
    Ok(MarketRegistration {
        terms: MarketTerms {
            tick_size: Some(TickSize::parse("tick_size", &market.tick)?),
            minimum_order_size: Some(Lots(u64::from(market.minimum_size) * 100)),
            ..MarketTerms::new(market.condition()?, market.tokens()?)
        },
        description: MarketDescription {
            outcomes: market.outcomes.clone(),
            question: market.question.clone(),
            description: market.description.clone(),
            slug: market.slug.clone(),
            end_date: Some(market.end_date.clone()),
            ..MarketDescription::default()
        },
    })
}

/// Payout for a midpoint.
fn payout_at(midpoint: Option<&str>) -> Payout {
    const HALF: &str = "0.5";
    // Canonical decimals between 0 and 1 order like their strings.
    match midpoint.map(|midpoint| midpoint.cmp(HALF)) {
        Some(std::cmp::Ordering::Greater) => Payout::Yes,
        Some(std::cmp::Ordering::Less) => Payout::No,
        Some(std::cmp::Ordering::Equal) | None => Payout::Half,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_has_names_of_its_own_and_a_market_the_bots_can_quote() {
        let (first, second) = (round(1_700_000_000, 1_700_000_600), round(1_700_000_001, 1));
        assert_eq!(first.slug, "demo-round-1700000000");
        assert_eq!(first.title, "The round of 22:13:20 UTC");
        let market = &first.markets[0];
        assert_eq!(market.end_date, "2023-11-14T22:23:20Z");
        assert_eq!((market.tick_units(), market.price_units()), (100, 5_000));
        assert_ne!(market.condition_id(), second.markets[0].condition_id());
        assert!(crate::demo::market::BotMarket::of(&first, 0, market).is_ok());
    }

    #[test]
    fn a_round_ends_when_its_market_says() {
        let event = round(1, 1_700_000_600);
        assert_eq!(ends(&event.markets[0].end_date), Some(1_700_000_600));
        assert_eq!(ends(""), None);
        let registration = registration(&event).unwrap();
        let date = registration.description.end_date;
        assert_eq!(date.as_deref().and_then(ends), Some(1_700_000_600));
    }

    #[test]
    fn rounds_get_longer_in_the_end() {
        let [first, others] = [90, 600].map(Duration::from_secs);
        let lengths = MarketDurations { first, others };
        let of = |number: u32| lengths.of(number).as_secs();
        assert_eq!(
            [0, 1, 12, 13, u32::MAX].map(of),
            [90, 600, 600, 3_600, 3_600]
        );
    }

    #[test]
    fn a_round_pays_by_its_midpoint() {
        for (midpoint, payout) in [
            (Some("0.505"), Payout::Yes),
            (Some("0.6"), Payout::Yes),
            (Some("0.5"), Payout::Half),
            (Some("0.495"), Payout::No),
            (Some("0.015"), Payout::No),
            (None, Payout::Half),
        ] {
            assert_eq!(payout_at(midpoint), payout, "{midpoint:?}");
        }
    }
}
