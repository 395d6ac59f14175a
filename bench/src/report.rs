//! The report of a measurement: one type that is printed, saved as JSON, compared and drawn.

pub(crate) mod figure;
mod goal;
mod log;
mod measure;
pub mod page;
mod recording;
mod stamp;
mod text;

use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use self::goal::{Goal, Limit, Verdict};
pub use self::log::{read_log, write_log};
pub use self::measure::{Baseline, Better, Measure};
pub use self::recording::{Interval, Recording};
pub use self::stamp::Stamp;
pub(crate) use self::text::{number, write_columns};

/// One measurement, or several of one run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The command's name.
    pub bench: String,
    /// Size of the measurement, as text.
    pub scope: String,
    /// Why a part of a combined run has no figures.
    pub error: Option<String>,
    /// Machine, time and program.
    pub stamp: Stamp,
    /// Number of rounds; figures are their medians.
    pub rounds: usize,
    /// Measures, each after its baseline.
    pub measures: Vec<Measure>,
    /// Goals with their results.
    pub goals: Vec<Goal>,
    /// Histograms of single durations, if taken.
    pub recordings: Vec<Recording>,
    /// Remarks for the reader.
    pub notes: Vec<String>,
    /// Measurements of a combined run.
    pub parts: Vec<Report>,
    /// Start of the clock; not saved.
    #[serde(skip)]
    begun: Option<Begun>,
}

/// A clock reading that compares as equal, so reports stay comparable.
#[derive(Clone, Copy, Debug)]
struct Begun(Instant);

impl PartialEq for Begun {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Report {
    /// Begins a measurement; `durability` is what its answers wait for: `disk`, `process` or
    /// `none`.
    #[must_use]
    pub fn begin(bench: &str, durability: &str) -> Self {
        Self {
            bench: bench.to_owned(),
            scope: String::new(),
            error: None,
            stamp: Stamp::now(durability),
            rounds: 0,
            measures: Vec::new(),
            goals: Vec::new(),
            recordings: Vec::new(),
            notes: Vec::new(),
            parts: Vec::new(),
            begun: Some(Begun(Instant::now())),
        }
    }

    /// Ends the measurement and notes its duration.
    #[must_use]
    pub fn end(mut self) -> Self {
        if let Some(Begun(begun)) = self.begun.take() {
            self.stamp.seconds = begun.elapsed().as_secs_f64();
        }
        self
    }

    /// Seconds since [`Self::begin`]: the position on the timeline.
    #[must_use]
    pub fn elapsed(&self) -> f64 {
        self.begun
            .map_or(0.0, |Begun(begun)| begun.elapsed().as_secs_f64())
    }

    /// Sets the commit of the measured program, in its parts too.
    pub fn set_commit(&mut self, commit: &str) {
        commit.clone_into(&mut self.stamp.commit);
        self.parts
            .iter_mut()
            .for_each(|part| part.set_commit(commit));
    }

    /// Adds durations; those of the same name form one recording.
    pub fn record(&mut self, name: &str, interval: Interval) {
        match self.recordings.iter_mut().find(|kept| kept.name == name) {
            Some(recording) => recording.intervals.push(interval),
            None => self.recordings.push(Recording {
                name: name.to_owned(),
                intervals: vec![interval],
            }),
        }
    }

    /// A measure of this report, not of its parts, by name.
    #[must_use]
    pub fn measure(&self, name: &str) -> Option<&Measure> {
        self.measures.iter().find(|measure| measure.name == name)
    }

    /// Names of the parts that failed.
    #[must_use]
    pub fn failed(&self) -> Vec<&str> {
        let failed = self.parts.iter().filter(|part| part.error.is_some());
        failed.map(|part| part.bench.as_str()).collect()
    }

    /// The report and its parts, or only the parts if it has no content of its own.
    pub fn leaves(&self) -> Vec<&Self> {
        if self.parts.is_empty() {
            vec![self]
        } else {
            self.parts.iter().flat_map(Self::leaves).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::latency::Quantiles;

    fn part(bench: &str) -> Report {
        let mut report = Report::begin(bench, "none");
        let floor = Measure::of("floor", "ns", vec![2.0, 4.0, 3.0]);
        let step = Measure::of("step", "ns", vec![6.0, 8.0, 9.0]).over(&floor);
        report.measures.extend([floor, step]);
        report
            .goals
            .push(Goal::at_most("step / floor", 2.5, Some(3.0)));
        report.end()
    }

    #[test]
    fn a_report_comes_back_from_its_json() {
        let mut all = Report::begin("all", "none");
        all.parts = vec![part("match"), part("journal")];
        all.set_commit("0123abc");
        let all = all.end();
        let json = serde_json::to_string(&all).unwrap();
        assert_eq!(serde_json::from_str::<Report>(&json).unwrap(), all);
        assert!(
            all.leaves()
                .iter()
                .all(|leaf| leaf.stamp.commit == "0123abc")
        );
        assert_eq!(all.leaves().len(), 2);
    }

    /// JSON has no such numbers: they are `null` in it.
    #[test]
    fn a_figure_that_is_no_number_comes_back_as_none() {
        let mut report = part("load");
        let infinite = Measure::of("knee", "requests/s", vec![f64::NAN, f64::INFINITY]);
        let quantiles = Quantiles {
            p50: f64::NAN,
            p99: f64::NAN,
            p999: 1.0,
        };
        let knee = infinite.quantiles(quantiles).over(&report.measures[0]);
        report.measures.push(knee);
        let json = serde_json::to_string(&report).unwrap();
        let back: Report = serde_json::from_str(&json).unwrap();
        let knee = back.measure("knee").unwrap();
        assert!(knee.value.is_nan() && knee.rounds.iter().all(|round| round.is_nan()));
        assert!(knee.ratio().unwrap().is_nan() && knee.quantiles.unwrap().p999 == 1.0);
    }

    #[test]
    fn ratios_are_of_the_same_rounds() {
        let report = part("match");
        let step = report.measure("step").unwrap();
        // 6/2, 8/4, 9/3: the median ratio is not the ratio of the medians.
        assert_eq!(step.floor.as_ref().unwrap().ratio, 3.0);
        assert_eq!(step.value, 8.0);
    }

    #[test]
    fn durations_of_one_name_are_one_recording() {
        let mut report = Report::begin("entry", "disk");
        let histogram = hdrhistogram::Histogram::<u64>::new(3).unwrap();
        for at in [0.0, 1.0] {
            report.record("answer", Interval::new(at, 1.0, &histogram));
        }
        assert_eq!(report.recordings.len(), 1);
        assert_eq!(report.recordings[0].intervals.len(), 2);
    }
}
