//! What a run found.

use hdrhistogram::Histogram;

use super::mix::Kind;
use crate::latency::Quantiles;
use crate::report::{Interval, Measure, Report};

/// Latencies are told in microseconds.
pub(super) const NANOS_PER_US: f64 = 1e3;
/// The quantile that says whether a server keeps up.
const SLOW: f64 = 0.99;

/// One run at one rate. Times are in nanoseconds from when a request was due.
#[derive(Clone, PartialEq, Debug)]
pub struct Outcome {
    /// Requests a second that were due.
    pub rate: u32,
    /// Requests a second that were answered.
    pub achieved: f64,
    /// Answers, all of them right.
    pub answered: u64,
    /// Requests that were due and got no answer while somebody waited for it.
    pub unanswered: u64,
    /// From when the last request was due to the last answer.
    pub overtime: u64,
    /// All requests, those without an answer with the time they had waited.
    pub all: Histogram<u64>,
    /// The same kind by kind.
    pub kinds: Vec<(Kind, Histogram<u64>)>,
    /// The same by the second in which they were due.
    pub seconds: Vec<Histogram<u64>>,
    /// How late the generator sent what could be sent at once: part of every latency above.
    pub generator: Histogram<u64>,
    /// How late the machine woke a thread that had nothing to do with it.
    pub machine: Histogram<u64>,
}

impl Outcome {
    /// What 99 of 100 requests took at most.
    #[must_use]
    pub fn p99(&self) -> u64 {
        self.all.value_at_quantile(SLOW)
    }

    /// Whether the server kept up with the rate: everything was answered, all but one in a hundred
    /// within `bound` nanoseconds, and it was done so soon after the last request was due.
    #[must_use]
    pub fn kept_up(&self, bound: u64) -> bool {
        self.unanswered == 0 && self.overtime <= bound && self.p99() <= bound
    }

    /// What orders waited: single ones if there were any, else batches, else whatever was asked.
    pub(super) fn orders(&self) -> &Histogram<u64> {
        let first = self.kinds.first();
        first.map_or(&self.all, |(_, times)| times)
    }

    /// Adds its seconds to a report as one recording.
    pub(super) fn record(&self, report: &mut Report, name: &str, began: f64) {
        for (second, times) in (0_u32..).zip(&self.seconds) {
            let at = began + f64::from(second);
            report.record(name, Interval::new(at, 1.0, times));
        }
    }

    /// Writes it into a report.
    pub(super) fn fill(&self, report: &mut Report, began: f64) {
        report.rounds = 1;
        let answered = Measure::single("answered", "requests/s", self.achieved);
        report.measures.push(answered.higher());
        let kinds = self.kinds.iter().map(|(kind, times)| (kind.name(), times));
        let others = [
            ("all requests", &self.all),
            ("the generator's lateness", &self.generator),
            ("the machine's lateness", &self.machine),
        ];
        for (name, times) in kinds.chain(others) {
            let quantiles = Quantiles::of(times, NANOS_PER_US);
            let measure = Measure::single(name, "us", quantiles.p50);
            report.measures.push(measure.quantiles(quantiles));
        }
        self.record(report, "all requests", began);
        report.notes.push(format!(
            "{} requests a second were due; {} right answers, {} requests without one",
            self.rate, self.answered, self.unanswered
        ));
    }
}
