//! Short markets, one after the other, so that there is always one that ends soon and some that
//! have ended: the operator's part of the demo.
//!
//! A round is a market on its own price: it resolves to Yes if the midpoint is above 0.50 when its
//! time is over, to No if it is below, to half each otherwise. One that an earlier run left open goes on
//! to its end, or ends at the start of the next run when its time is over. Resolved ones stay, as markets do: so after a while rounds
//! get longer, and a demo that runs for a month has some hundred of them instead of thousands.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tracing::{info, warn};

use crate::catalog::put_records;
use crate::config::Config;
use crate::demo::sample::{self, SampleEvent, SampleMarket};
use crate::failure::Failure;
use crate::operator::client::OperatorClient;
use crate::output::field;

/// What every round's slug begins with; what follows is the second it opened.
const SLUG: &str = "demo-round-";
/// Under which the catalog keeps its report of the rounds.
const NAME: &str = "the demo's rounds";
/// Rounds of a run before they get longer, and how many times longer.
const SHORT_ROUNDS: u32 = 12;
const LONGER: u32 = 6;
/// Pause after something went wrong.
const RETRY: Duration = Duration::from_secs(2);

/// What the bots are told.
pub(super) enum News {
    /// A round is open.
    Opened(SampleEvent),
    /// A round is resolved: what is held of it can be redeemed.
    Ended(SampleMarket),
}

/// How long rounds are open.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    pub(super) first: Duration,
    pub(super) others: Duration,
}

impl Lengths {
    /// That of a round of a run, the first at 0.
    const fn of(self, number: u32) -> Duration {
        match number {
            0 => self.first,
            1..=SHORT_ROUNDS => self.others,
            _ => self.others.saturating_mul(LONGER),
        }
    }
}

/// Opens and ends rounds.
pub(super) struct Host {
    config: Config,
    client: OperatorClient,
    http: reqwest::Client,
    trading: String,
    news: UnboundedSender<News>,
}

impl Host {
    /// A host for the exchange of these settings.
    pub(super) fn new(
        config: &Config,
        trading: &str,
        news: UnboundedSender<News>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            config: config.clone(),
            client: OperatorClient::new(config)?,
            http: reqwest::Client::new(),
            trading: trading.to_owned(),
            news,
        })
    }

    /// Opens a round, or takes up the one that is open, waits, ends it, for ever. An exchange that is
    /// restarting is asked again.
    pub(super) async fn run(self, lengths: Lengths) {
        for number in 0.. {
            let ends = match self.insist(|| self.end_due()).await {
                Some(ends) => ends,
                None => {
                    let opened = seconds_now();
                    let ends = opened + lengths.of(number).as_secs();
                    self.insist(|| self.open(opened, ends)).await;
                    ends
                }
            };
            let left = ends.saturating_sub(seconds_now());
            tokio::time::sleep(Duration::from_secs(left)).await;
        }
    }

    async fn insist<T, F: Future<Output = Result<T, Failure>>>(&self, step: impl Fn() -> F) -> T {
        loop {
            match step().await {
                Ok(done) => return done,
                Err(failure) => warn!("a round has to wait: {failure}"),
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    async fn open(&self, opened: u64, ends: u64) -> Result<(), Failure> {
        let event = round(opened, ends);
        let market = &event.markets[0];
        self.client.post("/markets", &registration(&event)).await?;
        self.publish(&event, opened, |_| ());
        info!(
            slug = market.slug,
            seconds = ends - opened,
            "a round is open"
        );
        // Bots that are gone end this process.
        let _ = self.news.send(News::Opened(event));
        Ok(())
    }

    /// Ends every round whose time is over and that is not resolved. When another goes on, the bots are
    /// told of it; the second it ends.
    async fn end_due(&self) -> Result<Option<u64>, Failure> {
        let listed = self.client.get("/markets").await?;
        let mut goes_on = None;
        for row in listed["markets"].as_array().into_iter().flatten() {
            let slug = field(row, "slug");
            let opened = slug.strip_prefix(SLUG).and_then(|text| text.parse().ok());
            let status = field(row, "status");
            let (Some(opened), true) = (opened, status != "resolved") else {
                continue;
            };
            let shown = format!("/markets/{}", field(row, "conditionId"));
            let ends = ends(&self.client.get(&shown).await?).unwrap_or(opened);
            if status == "active" && ends > seconds_now() {
                let _ = self.news.send(News::Opened(round(opened, ends)));
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
        let condition = market.condition_id();
        let (payout, prices) = self.payout(market).await?;
        let named = json!({ "condition_id": condition });
        self.client.post("/markets/close", &named).await?;
        let resolution = json!({ "condition_id": condition, "payout": payout });
        self.client.post("/markets/resolve", &resolution).await?;
        info!(slug = market.slug, payout, "a round has ended");
        self.publish(&event, seconds_now(), |record| {
            record["closed"] = true.into();
            sample::resolve(&mut record["markets"][0], prices);
        });
        let _ = self.news.send(News::Ended(event.markets.remove(0)));
        Ok(())
    }

    /// What a round pays by its midpoint now, and the same as the catalog writes it.
    async fn payout(&self, market: &SampleMarket) -> Result<(&'static str, &'static str), Failure> {
        let [yes, _] = market.token_ids();
        let url = format!("{}/midpoint?token_id={yes}", self.trading);
        let failure = |error: reqwest::Error| Failure::new(format!("no midpoint: {error}"));
        let response = self.http.get(url).send().await.map_err(failure)?;
        // A book without two sides has no midpoint, and answers so.
        let answer: Value = response.json().await.map_err(failure)?;
        Ok(payout_at(answer["mid"].as_str()))
    }

    /// Writes a round into the catalog, changed at this second. The demo goes on without: the
    /// exchange knows the market.
    fn publish(&self, event: &SampleEvent, changed: u64, change: impl FnOnce(&mut Value)) {
        let mut record = event.record(&[]);
        date(&mut record, event.id, changed);
        date(&mut record["markets"][0], event.id, changed);
        change(&mut record);
        let records = json!([record]).to_string();
        if let Err(failure) = put_records(&self.config, NAME, records.as_bytes()) {
            warn!(
                slug = event.slug,
                "the catalog does not show a round: {failure}"
            );
        }
    }
}

/// Dates a record that began at `opened` and was changed at `changed`.
fn date(record: &mut Value, opened: u64, changed: u64) {
    for name in ["startDate", "creationDate", "createdAt"] {
        record[name] = time(opened).to_string().into();
    }
    record["updatedAt"] = time(changed).to_string().into();
}

/// The second a market says it ends.
fn ends(market: &Value) -> Option<u64> {
    let ends: Timestamp = market["end_date_iso"].as_str()?.parse().ok()?;
    u64::try_from(ends.as_second()).ok()
}

fn time(seconds: u64) -> Timestamp {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or_default()
}

/// The event of the round that opened at a second, with its one market.
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
        }],
    }
}

fn registration(event: &SampleEvent) -> Value {
    let market = &event.markets[0];
    json!({
        "condition_id": market.condition_id(),
        "token_ids": market.token_ids(),
        "outcomes": market.outcomes,
        "question": market.question,
        "description": market.description,
        "slug": market.slug,
        "end_date": market.end_date,
        "event": { "id": event.id, "slug": event.slug, "title": event.title },
        "tick_size": market.tick,
        "minimum_order_size": market.minimum_size.to_string(),
    })
}

/// Payout and outcome prices by a midpoint's text.
fn payout_at(midpoint: Option<&str>) -> (&'static str, &'static str) {
    const HALF: &str = "0.5";
    // Shortest decimals between 0 and 1 compare as their texts do.
    match midpoint.map(|midpoint| midpoint.cmp(HALF)) {
        Some(std::cmp::Ordering::Greater) => ("yes", r#"["1", "0"]"#),
        Some(std::cmp::Ordering::Less) => ("no", r#"["0", "1"]"#),
        Some(std::cmp::Ordering::Equal) | None => ("half", r#"["0.5", "0.5"]"#),
    }
}

fn seconds_now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
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
        let market = json!({ "end_date_iso": round(1, 1_700_000_600).markets[0].end_date });
        assert_eq!(ends(&market), Some(1_700_000_600));
        assert_eq!(ends(&json!({ "end_date_iso": null })), None);
    }

    #[test]
    fn rounds_get_longer_in_the_end() {
        let [first, others] = [90, 600].map(Duration::from_secs);
        let lengths = Lengths { first, others };
        let of = |number: u32| lengths.of(number).as_secs();
        assert_eq!(
            [0, 1, 12, 13, u32::MAX].map(of),
            [90, 600, 600, 3_600, 3_600]
        );
    }

    #[test]
    fn a_round_pays_by_its_midpoint() {
        for (midpoint, payout) in [
            (Some("0.505"), "yes"),
            (Some("0.6"), "yes"),
            (Some("0.5"), "half"),
            (Some("0.495"), "no"),
            (Some("0.015"), "no"),
            (None, "half"),
        ] {
            assert_eq!(payout_at(midpoint).0, payout, "{midpoint:?}");
        }
    }

    #[test]
    fn a_round_is_a_record_of_the_catalog() {
        let record = round(1_700_000_000, 1_700_000_600).record(&[]);
        assert_eq!(record["id"], "1700000000");
        assert_eq!(record["markets"][0]["id"], "170000000000");
        assert_eq!(record["markets"][0]["closed"], false);
    }
}
