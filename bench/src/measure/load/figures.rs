//! Result of a run.

use hdrhistogram::Histogram;

use super::request_mix::RequestKind;
use crate::harness::latency::{NANOS_PER_US, Quantiles};
use crate::report::{Interval, Measure, Report};

/// Quantile that decides whether a server keeps up.
const SLOW: f64 = 0.99;

/// One run at one rate. Times are in nanoseconds from when a request was due.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Outcome {
    /// Requests per second that were due.
    pub(super) rate: u32,
    /// Requests per second that were answered.
    pub(super) achieved: f64,
    /// Number of answers, all correct.
    pub(super) answered: u64,
    /// Requests that were due and not answered before the run ended.
    pub(super) unanswered: u64,
    /// Time from the last due request to the last answer.
    pub(super) overtime: u64,
    /// Latencies of all requests; an unanswered one counts with its wait so far.
    pub(super) all: Histogram<u64>,
    /// Latencies by kind.
    pub(super) kinds: Vec<(RequestKind, Histogram<u64>)>,
    /// Latencies by the second in which a request was due.
    pub(super) seconds: Vec<Histogram<u64>>,
    /// Generator lateness for requests that could be sent at once: part of every latency above.
    pub(super) generator: Histogram<u64>,
    /// Wake-up lateness of an unrelated thread.
    pub(super) machine: Histogram<u64>,
}

impl Outcome {
    /// 99th percentile of all requests.
    pub(super) fn p99(&self) -> u64 {
        self.all.value_at_quantile(SLOW)
    }

    /// Whether the server kept up: every request was answered, 99% within `bound` nanoseconds, and
    /// the last answer came within that time after the last due request.
    pub(super) fn kept_up(&self, bound: u64) -> bool {
        self.unanswered == 0 && self.overtime <= bound && self.p99() <= bound
    }

    /// Latencies of orders: single ones if any, else batches, else all requests.
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

    /// Adds the result to a report.
    pub(super) fn fill(&self, report: &mut Report, began: f64) {
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
