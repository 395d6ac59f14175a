//! What a measurement found: one type for all of them, which is printed, kept as JSON, compared
//! with an earlier one and drawn.

mod goal;
mod log;
mod measure;
mod recording;
mod stamp;
mod text;

use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use self::goal::{Goal, Limit, Verdict};
pub use self::log::{read_log, write_log};
pub use self::measure::{Better, Floor, Measure};
pub use self::recording::{Interval, Recording};
pub use self::stamp::Stamp;
pub(crate) use self::text::{number, write_columns};

/// One measurement, or several that were taken in one run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The command's name.
    pub bench: String,
    /// How much of what was measured, in words.
    pub scope: String,
    /// Where, when and with what.
    pub stamp: Stamp,
    /// Times everything was done; figures are medians of them.
    pub rounds: usize,
    /// What was found, each floor before what is held against it.
    pub measures: Vec<Measure>,
    /// What should have been found.
    pub goals: Vec<Goal>,
    /// Durations one by one, where they were taken so.
    pub recordings: Vec<Recording>,
    /// What a reader has to know.
    pub notes: Vec<String>,
    /// The measurements of a run that consists of several.
    pub parts: Vec<Report>,
    /// Since when the clock runs; not part of what was found.
    #[serde(skip)]
    begun: Option<Begun>,
}

/// A reading of the clock that never makes two reports differ.
#[derive(Clone, Copy, Debug)]
struct Begun(Instant);

impl PartialEq for Begun {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Report {
    /// Begins a measurement; `durability` is what its answers wait for: `disk`, `process` or `none`.
    #[must_use]
    pub fn begin(bench: &str, durability: &str) -> Self {
        Self {
            bench: bench.to_owned(),
            scope: String::new(),
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

    /// Ends it: notes how long it took.
    #[must_use]
    pub fn end(mut self) -> Self {
        if let Some(Begun(begun)) = self.begun.take() {
            self.stamp.seconds = begun.elapsed().as_secs_f64();
        }
        self
    }

    /// Since [`Self::begin`], in seconds: where on the timeline something stands.
    #[must_use]
    pub fn elapsed(&self) -> f64 {
        self.begun
            .map_or(0.0, |Begun(begun)| begun.elapsed().as_secs_f64())
    }

    /// Says with which program it was measured, its parts as well.
    pub fn set_commit(&mut self, commit: &str) {
        commit.clone_into(&mut self.stamp.commit);
        self.parts
            .iter_mut()
            .for_each(|part| part.set_commit(commit));
    }

    /// Adds durations; those of the same name become one recording.
    pub fn record(&mut self, name: &str, interval: Interval) {
        match self.recordings.iter_mut().find(|kept| kept.name == name) {
            Some(recording) => recording.intervals.push(interval),
            None => self.recordings.push(Recording {
                name: name.to_owned(),
                intervals: vec![interval],
            }),
        }
    }

    /// A measure by its name; not of the parts.
    #[must_use]
    pub fn measure(&self, name: &str) -> Option<&Measure> {
        self.measures.iter().find(|measure| measure.name == name)
    }

    /// It and its parts, or the parts alone where it only holds them together.
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
