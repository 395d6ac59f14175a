//! The demo's own markets: `sample.json`, with ids derived from their slugs.

use alloy_primitives::{U256, keccak256};
use serde::Deserialize;

use crate::failure::Failure;

const TEXT: &str = include_str!("sample.json");

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
    /// What it is about.
    pub description: String,
    /// Whether its questions exclude each other.
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
    /// How it resolves.
    pub description: String,
    /// Where bots start quoting outcome 0.
    pub price: String,
    /// Labels of outcomes 0 and 1.
    pub outcomes: [String; 2],
    /// Tick, as the interface prints it.
    pub tick: String,
    /// Smallest order in shares.
    pub minimum_size: u32,
    /// ISO 8601.
    pub end_date: String,
    /// Taker fee in parts per million.
    #[serde(default)]
    pub fee_rate_ppm: u32,
    /// Exponent of the fee.
    #[serde(default)]
    pub fee_exponent: u8,
}

impl Sample {
    /// Reads the sample that is built into the binary.
    ///
    /// # Errors
    /// It does not parse, which a test excludes.
    pub fn load() -> Result<Self, Failure> {
        serde_json::from_str(TEXT)
            .map_err(|error| Failure::new(format!("the built-in sample: {error}")))
    }
}

impl SampleMarket {
    /// Condition id, `0x` and 64 hex digits.
    #[must_use]
    pub fn condition_id(&self) -> String {
        keccak256(format!("foretell demo condition {}", self.slug)).to_string()
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

/// A text of the sample such as `0.041` in units of 0.0001; a test holds that each is one.
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
