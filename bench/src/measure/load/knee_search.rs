//! Search for the knee: the highest rate a server sustains.

use std::fmt::{self, Display};

use super::figures::Outcome;
use crate::error::MeasureError;

/// Minimum rate.
const LOWEST: u32 = 50;
/// Maximum rate.
const HIGHEST: u32 = 1_000_000;

/// One rate that was tried.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Attempt {
    /// Requests per second that were due.
    pub(super) rate: u32,
    /// Requests per second that were answered.
    pub(super) achieved: f64,
    /// 99th percentile of all requests in nanoseconds.
    pub(super) p99: u64,
    /// Whether the server kept up.
    pub(super) kept_up: bool,
}

impl Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.kept_up {
            "kept up"
        } else {
            "fell behind"
        };
        let (rate, achieved, p99) = (self.rate, self.achieved, self.p99 / 1_000);
        write!(
            f,
            "{rate:>9}/s due {achieved:>9.0}/s answered, p99 {p99:>7} us: {verdict}"
        )
    }
}

/// Result of a search.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct KneeSearch {
    /// Highest sustained rate; `None` if no rate was sustained.
    pub(super) knee: Option<u32>,
    /// All tried rates, in order.
    pub(super) attempts: Vec<Attempt>,
}

/// How a rate is searched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// The first rate.
    pub(super) first: u32,
    /// Factor between rates until two enclose the knee.
    pub(super) factor: f64,
    /// Factor between the two that ends the search.
    pub(super) exact: f64,
}

/// Searches the highest rate at which the server keeps up with p99 within `bound` nanoseconds;
/// `attempt` makes a run. Steps up or down until two rates enclose it, then bisects. A failing rate is tried twice, since another program may have taken the CPU.
///
/// # Errors
/// Those of `attempt`.
pub(super) fn search(
    steps: Steps,
    bound: u64,
    mut attempt: impl FnMut(u32) -> Result<Outcome, MeasureError>,
) -> Result<KneeSearch, MeasureError> {
    let mut attempts = Vec::new();
    let mut holds = |rate: u32| -> Result<bool, MeasureError> {
        for _ in 0..2 {
            let outcome = attempt(rate)?;
            let kept_up = outcome.kept_up(bound);
            attempts.push(Attempt {
                rate,
                achieved: outcome.latencies.achieved(),
                p99: outcome.p99(),
                kept_up,
            });
            if kept_up {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let (mut low, mut high) = (None, None);
    let mut rate = steps.first.clamp(LOWEST, HIGHEST);
    loop {
        if holds(rate)? {
            low = Some(rate);
        } else {
            high = Some(rate);
        }
        rate = match (low, high) {
            (Some(low), Some(high)) => match between(low, high) {
                middle if middle > low && f64::from(high) / f64::from(low) > steps.exact => middle,
                _ => break,
            },
            (Some(HIGHEST), None) | (None, Some(LOWEST)) => break,
            (Some(low), None) => scaled(low, steps.factor),
            (None, Some(high)) => scaled(high, 1.0 / steps.factor),
            (None, None) => unreachable!("a rate holds or does not"),
        };
    }
    Ok(KneeSearch {
        knee: low,
        attempts,
    })
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to bounds"
)]
fn scaled(rate: u32, factor: f64) -> u32 {
    (f64::from(rate) * factor).clamp(f64::from(LOWEST), f64::from(HIGHEST)) as u32
}

/// The geometric mean.
fn between(low: u32, high: u32) -> u32 {
    scaled(low, (f64::from(high) / f64::from(low)).sqrt())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::measure::load::latency_record::{LatencyRecord, histogram};
    use crate::measure::load::request_mix::RequestKind;

    const EXACT: f64 = 1.05;

    const fn steps(first: u32, factor: f64) -> Steps {
        Steps {
            first,
            factor,
            exact: EXACT,
        }
    }

    /// The result of a server that answers at most `capacity` requests a second.
    fn outcome(rate: u32, capacity: u32) -> Outcome {
        let mut latencies = LatencyRecord::new(0);
        let took = if rate <= capacity { 1_000 } else { 9_000_000 };
        latencies.answered(RequestKind::Place, 0, took);
        Outcome {
            rate,
            latencies,
            machine: histogram(),
        }
    }

    #[rstest]
    #[case(1_000, 2.0, 7_300)]
    #[case(20_000, 2.0, 7_300)]
    #[case(7_000, 1.15, 7_300)]
    #[case(7_300, 1.15, 7_300)]
    #[case(1, 2.0, 55)]
    fn the_knee_is_found_from_below_and_above(
        #[case] first: u32,
        #[case] factor: f64,
        #[case] capacity: u32,
    ) {
        let found = search(steps(first, factor), 1_000_000, |rate| {
            Ok(outcome(rate, capacity))
        })
        .unwrap();
        let knee = found.knee.unwrap();
        assert!(knee <= capacity && f64::from(knee) * EXACT * EXACT >= f64::from(capacity));
        assert!(found.attempts.len() < 25);
    }

    #[test]
    fn there_may_be_no_knee() {
        let none = search(steps(80, 2.0), 1_000_000, |rate| Ok(outcome(rate, 0))).unwrap();
        assert_eq!(none.knee, None);
        let all = search(steps(400_000, 2.0), 1_000_000, |rate| {
            Ok(outcome(rate, u32::MAX))
        })
        .unwrap();
        assert_eq!(all.knee, Some(HIGHEST));
    }

    #[test]
    fn one_bad_moment_is_forgiven() {
        let mut first = true;
        let found = search(steps(1_000, 2.0), 1_000_000, |rate| {
            let stolen = std::mem::take(&mut first);
            Ok(outcome(rate, if stolen { 0 } else { 5_000 }))
        });
        assert!(found.unwrap().knee.is_some_and(|knee| knee > 4_500));
    }
}
