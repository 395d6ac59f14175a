//! Result of a run.

use hdrhistogram::Histogram;

use super::latency_record::LatencyRecord;
use crate::harness::latency::{NANOS_PER_US, Quantiles};
use crate::report::{Interval, Measure, Report};

/// Quantile that decides whether a server keeps up.
const SLOW: f64 = 0.99;

/// One run at one rate. Times are in nanoseconds from when a request was due.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Outcome {
    /// Requests per second that were due.
    pub(super) rate: u32,
    pub(super) latencies: LatencyRecord,
    /// Wake-up lateness of an unrelated thread.
    pub(super) machine: Histogram<u64>,
}

impl Outcome {
    /// 99th percentile of all requests.
    pub(super) fn p99(&self) -> u64 {
        self.latencies.all().value_at_quantile(SLOW)
    }

    /// Whether the server kept up: every request was answered, 99% within `bound` nanoseconds, and
    /// the last answer came within that time after the last due request.
    pub(super) fn kept_up(&self, bound: u64) -> bool {
        let latencies = &self.latencies;
        latencies.unanswered == 0 && latencies.overtime() <= bound && self.p99() <= bound
    }

    /// Adds its seconds to a report as one recording.
    pub(super) fn record(&self, report: &mut Report, name: &str, began: f64) {
        for (second, times) in (0_u32..).zip(&self.latencies.seconds) {
            let at = began + f64::from(second);
            report.record(name, Interval::new(at, 1.0, times));
        }
    }

    /// Adds the result to a report.
    pub(super) fn fill(&self, report: &mut Report, began: f64) {
        let latencies = &self.latencies;
        let answered = Measure::single("answered", "requests/s", latencies.achieved());
        report.measures.push(answered.higher());
        let all = latencies.all();
        let kinds = latencies.kinds().map(|(kind, times)| (kind.name(), times));
        let others = [
            ("all requests", &all),
            ("the generator's lateness", &latencies.lateness),
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
            self.rate, latencies.answered, latencies.unanswered
        ));
    }
}
