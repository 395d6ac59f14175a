//! Time per command: throughput from the CPU time of laps, quantiles from the wall time of single
//! commands.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use foretell_model::TimeMs;
use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::report::figure;

pub(crate) const NANOS_PER_US: f64 = 1e3;
pub(crate) const NANOS_PER_MS: f64 = 1e6;

/// Quantiles of single durations, the clock's own cost included.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Quantiles {
    /// Median.
    #[serde(deserialize_with = "figure::one")]
    pub p50: f64,
    /// 99th percentile.
    #[serde(deserialize_with = "figure::one")]
    pub p99: f64,
    /// 99.9th percentile.
    #[serde(deserialize_with = "figure::one")]
    pub p999: f64,
}

impl Quantiles {
    /// From a histogram of nanoseconds, divided by `nanos_per_unit`.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "nanoseconds far below 2^53")]
    pub fn of(times: &Histogram<u64>, nanos_per_unit: f64) -> Self {
        let at = |quantile| times.value_at_quantile(quantile) as f64 / nanos_per_unit;
        Self {
            p50: at(0.5),
            p99: at(0.99),
            p999: at(0.999),
        }
    }
}

/// Times single commands.
pub(crate) struct Stopwatch {
    times: Histogram<u64>,
}

impl Stopwatch {
    pub(crate) fn new() -> Self {
        // No command takes a second; the clock gives three digits.
        let times = Histogram::new_with_max(1_000_000_000, 3).expect("the bounds are sound");
        Self { times }
    }

    pub(crate) fn time<T>(&mut self, command: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let answer = command();
        self.record(nanos(start.elapsed()));
        answer
    }

    /// Adds a duration in nanoseconds that was timed elsewhere.
    pub(crate) fn record(&mut self, nanos: u64) {
        self.times.saturating_record(nanos);
    }

    /// Adds the durations of another stopwatch.
    pub(crate) fn add(&mut self, other: &Self) {
        self.times
            .add(&other.times)
            .expect("all have the same bounds");
    }

    /// In units of `nanos_per_unit` nanoseconds.
    pub(crate) fn quantiles(&self, nanos_per_unit: f64) -> Quantiles {
        Quantiles::of(&self.times, nanos_per_unit)
    }

    /// All durations in nanoseconds.
    pub(crate) const fn times(&self) -> &Histogram<u64> {
        &self.times
    }
}

impl Default for Stopwatch {
    fn default() -> Self {
        Self::new()
    }
}

/// A duration in nanoseconds.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// CPU time of this thread in nanoseconds, which excludes other programs. Reading it is a system
/// call of about 100 ns, so read it around bursts only.
pub(crate) fn processor_nanos() -> u64 {
    nanos_of(ClockId::ThreadCPUTime)
}

/// CPU time of all threads of this process, ended ones included.
#[must_use]
pub(crate) fn process_nanos() -> u64 {
    nanos_of(ClockId::ProcessCPUTime)
}

fn nanos_of(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

/// The wall clock.
pub(crate) fn now_ms() -> TimeMs {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    TimeMs(u64::try_from(now.as_millis()).unwrap_or(u64::MAX))
}

/// Cost of an empty measurement, which is part of every quantile.
pub(crate) fn cost_of_the_clock() -> f64 {
    let mut stopwatch = Stopwatch::new();
    (0..100_000).for_each(|_| stopwatch.time(|| ()));
    stopwatch.quantiles(1.0).p50
}

/// A mean: `sum` for each of `count`, at least 1.
#[allow(clippy::cast_precision_loss, reason = "both are below 2^53")]
pub(crate) fn ratio(sum: u64, count: u64) -> f64 {
    sum as f64 / count.max(1) as f64
}

/// The median; the lower of two middle values.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len().saturating_sub(1) / 2;
    sorted.get(middle).copied().unwrap_or(f64::NAN)
}
