//! The rounds of one timed lane.

use super::latency::{NANOS_PER_US, Quantiles, Stopwatch};
use crate::report::{Interval, Measure, Report};

/// Medians and p99s of rounds in microseconds, and the single durations of all.
pub(crate) struct Rounds {
    name: &'static str,
    p50: Vec<f64>,
    p99: Vec<f64>,
    total: Stopwatch,
}

impl Rounds {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            p50: Vec::new(),
            p99: Vec::new(),
            total: Stopwatch::new(),
        }
    }

    /// Adds a round that began at `begun` seconds of the report and ends now; its durations are a
    /// recording of the report.
    pub(crate) fn push(&mut self, report: &mut Report, begun: f64, times: &Stopwatch) {
        let length = report.elapsed() - begun;
        report.record(self.name, Interval::new(begun, length, times.times()));
        let Quantiles { p50, p99, .. } = times.quantiles(NANOS_PER_US);
        self.p50.push(p50);
        self.p99.push(p99);
        self.total.add(times);
    }

    /// Median of the last round, in microseconds.
    pub(crate) fn last_p50(&self) -> f64 {
        self.p50.last().copied().unwrap_or(f64::NAN)
    }

    /// The medians, with the quantiles of all durations.
    pub(crate) fn medians(&self) -> Measure {
        let quantiles = self.total.quantiles(NANOS_PER_US);
        Measure::of(self.name, "us", self.p50.clone()).quantiles(quantiles)
    }

    pub(crate) fn p99s(&self) -> Measure {
        Measure::of(format!("p99 of {}", self.name), "us", self.p99.clone())
    }
}
