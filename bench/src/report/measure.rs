//! A measure: its rounds, its median, and its ratio to its baseline.

use serde::{Deserialize, Serialize};

use super::figure;
use crate::harness::latency::{Quantiles, median};

/// Direction of improvement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Lower is better: times, bytes.
    Lower,
    /// Higher is better: rates.
    Higher,
}

/// A measure of a report.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measure {
    /// Unique within its report.
    pub name: String,
    /// Unit of value, rounds and quantiles.
    pub unit: String,
    /// Direction of improvement.
    pub better: Better,
    /// The median of the rounds.
    #[serde(deserialize_with = "figure::one")]
    pub value: f64,
    /// Value of each round.
    #[serde(deserialize_with = "figure::many")]
    pub rounds: Vec<f64>,
    /// Quantiles of single durations, if taken.
    pub quantiles: Option<Quantiles>,
    /// Baseline, if there is one.
    pub floor: Option<Baseline>,
}

/// Ratio of a measure to its baseline, measured in the same rounds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Baseline {
    /// Name of the baseline in the same report.
    pub name: String,
    /// Median of the rounds' ratios: disturbances of a whole round cancel out.
    #[serde(deserialize_with = "figure::one")]
    pub ratio: f64,
    /// Ratio of measure to baseline, by round.
    #[serde(deserialize_with = "figure::many")]
    pub ratios: Vec<f64>,
}

impl Measure {
    /// A time or a size, by rounds.
    #[must_use]
    pub fn of(name: impl Into<String>, unit: &str, rounds: Vec<f64>) -> Self {
        Self {
            name: name.into(),
            unit: unit.to_owned(),
            better: Better::Lower,
            value: median(&rounds),
            rounds,
            quantiles: None,
            floor: None,
        }
    }

    /// A value that was measured once.
    #[must_use]
    pub fn single(name: impl Into<String>, unit: &str, value: f64) -> Self {
        Self::of(name, unit, vec![value])
    }

    /// Marks higher values as better.
    #[must_use]
    pub fn higher(mut self) -> Self {
        self.better = Better::Higher;
        self
    }

    /// Adds quantiles in the measure's unit.
    #[must_use]
    pub fn quantiles(mut self, quantiles: Quantiles) -> Self {
        self.quantiles = Some(quantiles);
        self
    }

    /// Compares it with a baseline of the same rounds.
    #[must_use]
    pub fn over(mut self, floor: &Self) -> Self {
        let pairs = self.rounds.iter().zip(&floor.rounds);
        let ratios: Vec<f64> = pairs.map(|(value, floor)| value / floor).collect();
        self.floor = Some(Baseline {
            name: floor.name.clone(),
            ratio: median(&ratios),
            ratios,
        });
        self
    }

    /// Ratio to the baseline, if there is one.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.floor.as_ref().map(|floor| floor.ratio)
    }
}
