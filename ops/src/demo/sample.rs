//! The demo's sample markets: `sample.json`, with ids derived from their slugs.

use alloy_primitives::{U256, keccak256};
use foretell_model::{ConditionId, TokenId};
use foretell_wire::operator::{Condition, Readable as _};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::trader::token;

const TEXT: &str = include_str!("sample.json");
/// Creation and start time of the sample.
const WRITTEN: &str = "2026-01-05T09:00:00Z";
/// Market ids start at the event's id times this.
const IDS_PER_EVENT: u64 = 100;

/// The whole sample.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// Its events.
    pub events: Vec<SampleEvent>,
}

/// An event and its markets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SampleEvent {
    /// Numeric id.
    pub id: u64,
    /// Slug.
    pub slug: String,
    /// Title.
    pub title: String,
    /// Description.
    pub description: String,
    /// Labels.
    pub tags: Vec<String>,
    /// Whether its questions are mutually exclusive.
    pub neg_risk: bool,
    /// Its questions.
    pub markets: Vec<SampleMarket>,
}

/// A binary market.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SampleMarket {
    /// Slug; ids derive from it.
    pub slug: String,
    /// The question.
    pub question: String,
    /// Resolution criteria.
    pub description: String,
    /// Initial fair price of outcome 0.
    pub price: String,
    /// Labels of outcomes 0 and 1.
    pub outcomes: [String; 2],
    /// Tick in the interface's format.
    pub tick: String,
    /// Smallest order in shares.
    pub minimum_size: u32,
    /// End time, ISO 8601.
    pub end_date: String,
    /// Taker fee in parts per million.
    #[serde(default)]
    pub fee_rate_ppm: u32,
    /// Exponent of the fee.
    #[serde(default)]
    pub fee_exponent: u8,
    /// How it ended before the demo started; its price is that of its beginning then, and its end time is
    /// empty until it is dated.
    #[serde(default)]
    pub ended: Option<SampleEnd>,
}

/// The end of a market in the demo's past.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SampleEnd {
    /// Days before the start of the demo.
    pub days_ago: u64,
    /// Whether outcome 0 was paid.
    pub first: bool,
}

impl Sample {
    /// Parses the sample that is built into the binary.
    ///
    /// # Errors
    /// It does not parse; a test rules this out.
    pub(crate) fn load() -> Result<Self, Failure> {
        serde_json::from_str(TEXT)
            .map_err(|error| Failure::new(format!("the built-in sample: {error}")))
    }

    /// The sample without what ended before the demo started.
    ///
    /// # Errors
    /// It does not parse; a test rules this out.
    pub fn open() -> Result<Self, Failure> {
        let mut sample = Self::load()?;
        sample.date_ended(|_| None);
        Ok(sample)
    }

    /// Dates the ends of markets that ended before the demo started. An event with one that has no date is
    /// left out.
    pub(crate) fn date_ended(&mut self, date: impl Fn(&SampleMarket) -> Option<String>) {
        self.events.retain_mut(|event| {
            let mut ended = event.markets.iter_mut().filter(|it| it.ended.is_some());
            ended.all(|market| {
                let dated = date(market);
                market.end_date = dated.clone().unwrap_or_default();
                dated.is_some()
            })
        });
    }

    /// The sample in an upstream's format: an array of events with their markets and tags, with the payouts
    /// of those that ended.
    #[must_use]
    pub fn records(&self) -> Value {
        let labels = self.labels();
        let event = |event: &SampleEvent| {
            let mut record = event.record(&labels);
            let is_over = event.markets.iter().all(|market| market.ended.is_some());
            record["closed"] = is_over.into();
            for (place, market) in event.markets.iter().enumerate() {
                if let Some(SampleEnd { first, .. }) = market.ended {
                    let prices = if first {
                        r#"["1","0"]"#
                    } else {
                        r#"["0","1"]"#
                    };
                    resolve(&mut record["markets"][place], prices);
                }
            }
            record
        };
        self.events.iter().map(event).collect()
    }

    /// All distinct tags, in order.
    pub(crate) fn labels(&self) -> Vec<&str> {
        let mut labels: Vec<&str> = Vec::new();
        for tag in self.events.iter().flat_map(|event| &event.tags) {
            if !labels.contains(&tag.as_str()) {
                labels.push(tag);
            }
        }
        labels
    }
}

impl SampleEvent {
    /// The event in an upstream's format; `labels` are all tags, in order.
    pub(crate) fn record(&self, labels: &[&str]) -> Value {
        let tags = labels.iter().zip(1_u64..);
        let tags = tags.filter(|(label, _)| self.tags.iter().any(|tag| tag == *label));
        let tags: Vec<Value> = tags
            .map(|(label, id)| {
                json!({ "id": id.to_string(), "label": label, "slug": label.to_lowercase(),
                    "createdAt": WRITTEN, "updatedAt": WRITTEN, "requiresTranslation": false })
            })
            .collect();
        let numbered = self.markets.iter().zip(0_u64..);
        let markets: Vec<Value> = numbered
            .map(|(market, place)| market.record(self, place))
            .collect();
        let end = self.markets.iter().map(|market| &market.end_date).max();
        json!({
            "id": self.id.to_string(), "ticker": self.slug, "slug": self.slug, "title": self.title,
            "description": self.description, "resolutionSource": "", "image": "", "icon": "",
            "startDate": WRITTEN, "creationDate": WRITTEN, "endDate": end,
            "createdAt": WRITTEN, "updatedAt": WRITTEN,
            "active": true, "closed": false, "archived": false, "negRisk": self.neg_risk,
            "tags": tags, "markets": markets,
        })
    }
}

/// Marks a market's record as closed.
pub(crate) fn close(record: &mut Value) {
    record["closed"] = true.into();
    record["acceptingOrders"] = false.into();
}

/// Marks a market's record as resolved; `prices` are the payouts of its outcomes.
pub(crate) fn resolve(record: &mut Value, prices: &str) {
    close(record);
    record["umaResolutionStatus"] = "resolved".into();
    record["outcomePrices"] = prices.into();
}

impl SampleMarket {
    fn record(&self, event: &SampleEvent, place: u64) -> Value {
        let mut record = json!({
            "id": (event.id * IDS_PER_EVENT + place).to_string(),
            "question": self.question, "slug": self.slug, "description": self.description,
            "conditionId": self.condition_id(), "resolutionSource": "", "image": "", "icon": "",
            "outcomes": json!(self.outcomes).to_string(),
            "clobTokenIds": json!(self.token_ids()).to_string(),
            "startDate": WRITTEN, "endDate": self.end_date,
            "createdAt": WRITTEN, "updatedAt": WRITTEN,
            "active": true, "closed": false, "archived": false,
            "questionID": self.condition_id(),
            "enableOrderBook": true, "acceptingOrders": true, "negRisk": event.neg_risk,
            "groupItemThreshold": place.to_string(),
            "orderPriceMinTickSize": self.tick, "orderMinSize": self.minimum_size,
        });
        if self.fee_rate_ppm > 0 {
            let rate = f64::from(self.fee_rate_ppm) / 1e6;
            let schedule =
                json!({ "rate": rate, "exponent": self.fee_exponent, "takerOnly": true });
            record["feesEnabled"] = true.into();
            record["feeSchedule"] = schedule;
        }
        if event.neg_risk {
            record["negRiskMarketID"] = format!("0x{:064x}", event.id).into();
            record["negRiskRequestID"] = self.condition_id().into();
        }
        record
    }

    /// Condition id, `0x` and 64 hex digits.
    #[must_use]
    pub fn condition_id(&self) -> String {
        keccak256(format!("foretell demo condition {}", self.slug)).to_string()
    }

    /// The condition.
    pub(crate) fn condition(&self) -> Result<ConditionId, Failure> {
        Ok(Condition::parse("condition_id", &self.condition_id())?)
    }

    /// The tokens of outcomes 0 and 1.
    pub(crate) fn tokens(&self) -> Result<[TokenId; 2], Failure> {
        match self.token_ids().each_ref().map(|text| token(text)) {
            [Some(yes), Some(no)] => Ok([yes, no]),
            _ => Err(Failure::new(format!(
                "the demo's market {} has no token ids",
                self.slug
            ))),
        }
    }

    /// Tick in price units of 0.0001.
    #[must_use]
    pub fn tick_units(&self) -> u16 {
        price_units(&self.tick)
    }

    /// Starting price of outcome 0 in units of 0.0001.
    #[must_use]
    pub fn price_units(&self) -> u16 {
        price_units(&self.price)
    }

    /// Token ids of outcomes 0 and 1, decimal.
    #[must_use]
    pub fn token_ids(&self) -> [String; 2] {
        [0, 1].map(|outcome| {
            let hash = keccak256(format!("foretell demo token {} {outcome}", self.slug));
            U256::from_be_bytes(hash.0).to_string()
        })
    }
}

/// A price such as `0.041` in units of 0.0001; a test checks every price of the sample.
fn price_units(text: &str) -> u16 {
    let digits = text.strip_prefix("0.").unwrap_or_default();
    format!("{digits:0<4}").parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_sample_is_large_enough_and_its_ids_are_unique() {
        let sample = Sample::load().unwrap();
        let markets: Vec<_> = sample
            .events
            .iter()
            .flat_map(|event| &event.markets)
            .collect();
        assert!(markets.len() >= 20, "{}", markets.len());
        let multi = sample
            .events
            .iter()
            .filter(|event| event.neg_risk && event.markets.len() > 2);
        assert!(multi.count() >= 2);
        let tokens: BTreeSet<_> = markets
            .iter()
            .flat_map(|market| market.token_ids())
            .collect();
        assert_eq!(tokens.len(), markets.len() * 2);
        for market in &markets {
            let (tick, price) = (market.tick_units(), market.price_units());
            assert!([1, 10, 100, 1_000].contains(&tick), "{}", market.slug);
            assert!(
                price > tick && price < 10_000 - tick && price.is_multiple_of(tick),
                "{}",
                market.slug
            );
        }
        let conditions: BTreeSet<_> = markets.iter().map(|market| market.condition_id()).collect();
        assert_eq!(conditions.len(), markets.len());
    }

    #[test]
    fn the_catalog_reads_the_sample_to_the_last_market() {
        use foretell_catalog::record::{Record, RecordKind, read};
        let sample = Sample::load().unwrap();
        let records = sample.records();
        for (event, record) in sample.events.iter().zip(records.as_array().unwrap()) {
            let read = read(Some(RecordKind::Event), record.to_string().as_bytes()).unwrap();
            assert_eq!(
                (read.warnings.len(), read.skipped.len()),
                (0, 0),
                "{read:?}"
            );
            let Record::Event(known) = read.record else {
                panic!("{record}");
            };
            assert_eq!(
                (known.neg_risk, known.markets.len()),
                (event.neg_risk, event.markets.len())
            );
            assert!(!known.tags.unwrap().is_empty());
            for (market, known) in event.markets.iter().zip(&known.markets) {
                let terms = known.terms.as_ref().unwrap();
                assert_eq!(terms.tick.units(), market.tick_units());
                assert_eq!(terms.fee.rate_ppm, market.fee_rate_ppm);
                assert_eq!(terms.minimum_size.0, u64::from(market.minimum_size) * 100);
                assert_eq!(terms.condition.to_string(), market.condition_id());
            }
        }
    }

    #[test]
    fn outcomes_that_exclude_each_other_start_near_a_sum_of_one() {
        for event in Sample::load()
            .unwrap()
            .events
            .iter()
            .filter(|event| event.neg_risk)
        {
            let sum: f64 = event
                .markets
                .iter()
                .map(|market| market.price.parse::<f64>().unwrap())
                .sum();
            assert!((0.9..=1.1).contains(&sum), "{}: {sum}", event.slug);
        }
    }
}
