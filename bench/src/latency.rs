//! Time per command: throughput from the processor time of laps, quantiles from the wall clock of
//! single commands.

use std::time::Instant;

use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

/// Quantiles of single durations, the clock's own cost included.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Quantiles {
    /// Half of them were at most this.
    pub p50: f64,
    /// 99 of 100.
    pub p99: f64,
    /// 999 of 1,000.
    pub p999: f64,
}

impl Quantiles {
    /// Of a histogram of nanoseconds, in units of so many.
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
        // One second is beyond any command; three digits are what the clock gives.
        let times = Histogram::new_with_max(1_000_000_000, 3).expect("the bounds are sound");
        Self { times }
    }

    pub(crate) fn time<T>(&mut self, command: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let answer = command();
        let nanos = start.elapsed().as_nanos();
        self.record(u64::try_from(nanos).unwrap_or(u64::MAX));
        answer
    }

    /// Takes in what was timed elsewhere, in nanoseconds.
    pub(crate) fn record(&mut self, nanos: u64) {
        self.times.saturating_record(nanos);
    }

    /// Takes the times of another in.
    pub(crate) fn add(&mut self, other: &Self) {
        self.times
            .add(&other.times)
            .expect("all have the same bounds");
    }

    /// In units of so many nanoseconds.
    pub(crate) fn quantiles(&self, nanos_per_unit: f64) -> Quantiles {
        Quantiles::of(&self.times, nanos_per_unit)
    }

    /// All of them, in nanoseconds.
    pub(crate) const fn times(&self) -> &Histogram<u64> {
        &self.times
    }
}

impl Default for Stopwatch {
    fn default() -> Self {
        Self::new()
    }
}

/// Processor time this thread used, in nanoseconds: what other programs take meanwhile is not in
/// it. Reading it is a system call of about 100 ns, so it stands around bursts.
pub(crate) fn processor_nanos() -> u64 {
    nanos_of(ClockId::ThreadCPUTime)
}

/// The same of all threads of this program, those that have ended too.
#[must_use]
pub fn process_nanos() -> u64 {
    nanos_of(ClockId::ProcessCPUTime)
}

fn nanos_of(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    part(time.tv_sec) * 1_000_000_000 + part(time.tv_nsec)
}

/// What timing nothing takes: the part of every quantile that is the clock's.
pub(crate) fn cost_of_the_clock() -> f64 {
    let mut stopwatch = Stopwatch::new();
    (0..100_000).for_each(|_| stopwatch.time(|| ()));
    stopwatch.quantiles(1.0).p50
}

/// The middle value; the lower of two.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len().saturating_sub(1) / 2;
    sorted.get(middle).copied().unwrap_or(f64::NAN)
}
