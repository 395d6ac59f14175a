//! One figure: its rounds, its median, and how it stands to its floor.

use serde::{Deserialize, Serialize};

use crate::latency::{Quantiles, median};

/// Which way a figure improves.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Times, bytes.
    Lower,
    /// Rates.
    Higher,
}

/// A figure of a report.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Measure {
    /// Unique within its report.
    pub name: String,
    /// Of the figure, its rounds and its quantiles.
    pub unit: String,
    /// Which way it improves.
    pub better: Better,
    /// The median of the rounds.
    pub value: f64,
    /// What each round gave.
    pub rounds: Vec<f64>,
    /// Of single durations, where they were taken.
    pub quantiles: Option<Quantiles>,
    /// What it is held against.
    pub floor: Option<Floor>,
}

/// A measure beside its floor, both taken in turns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Floor {
    /// The floor's name in the same report.
    pub name: String,
    /// The median of the rounds' ratios: what disturbed a whole round divides out.
    pub ratio: f64,
    /// Measure to floor, round by round.
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

    /// A figure that was taken once.
    #[must_use]
    pub fn single(name: impl Into<String>, unit: &str, value: f64) -> Self {
        Self::of(name, unit, vec![value])
    }

    /// More of it is better.
    #[must_use]
    pub fn higher(mut self) -> Self {
        self.better = Better::Higher;
        self
    }

    /// Adds quantiles, which are in the measure's unit.
    #[must_use]
    pub fn quantiles(mut self, quantiles: Quantiles) -> Self {
        self.quantiles = Some(quantiles);
        self
    }

    /// Holds it against a floor of the same rounds.
    #[must_use]
    pub fn over(mut self, floor: &Self) -> Self {
        let pairs = self.rounds.iter().zip(&floor.rounds);
        let ratios: Vec<f64> = pairs.map(|(value, floor)| value / floor).collect();
        self.floor = Some(Floor {
            name: floor.name.clone(),
            ratio: median(&ratios),
            ratios,
        });
        self
    }

    /// To the floor, if there is one.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        self.floor.as_ref().map(|floor| floor.ratio)
    }
}
