//! How long each stage of a command's way takes.

use std::sync::Arc;

use foretell_link::{Stage, StageSummary};
use hdrhistogram::Histogram;
use parking_lot::Mutex;

/// The longest duration told apart; longer ones count as this.
const LONGEST_NS: u64 = 60_000_000_000;
/// Durations kept by a thread until it gets at the histograms.
const KEPT: usize = 4_096;

/// How long summaries are good for: making them walks every bucket, about half a millisecond, so
/// that a flood of questions must not make them each time.
const SUMMARY_AGE_NS: u64 = 50_000_000;

/// The histograms of all stages.
#[derive(Debug)]
pub(crate) struct Stages([Histogram<u64>; Stage::COUNT]);

/// The newest summaries, and the monotonic reading when they were made.
#[derive(Debug, Default)]
pub(crate) struct Summaries(Option<(u64, [StageSummary; Stage::COUNT])>);

impl Summaries {
    /// Summaries that are at most 50 ms old.
    pub(crate) fn at(&mut self, now: u64, stages: &Mutex<Stages>) -> [StageSummary; Stage::COUNT] {
        match self.0 {
            Some((made, summaries)) if now.saturating_sub(made) < SUMMARY_AGE_NS => summaries,
            _ => {
                let summaries = stages.lock().summaries();
                self.0 = Some((now, summaries));
                summaries
            }
        }
    }
}

impl Stages {
    pub(crate) fn shared() -> Arc<Mutex<Self>> {
        let empty = || {
            Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("the bounds are constant and valid")
        };
        Arc::new(Mutex::new(Self(core::array::from_fn(|_| empty()))))
    }

    /// All summaries, in the order of [`Stage::ALL`].
    fn summaries(&self) -> [StageSummary; Stage::COUNT] {
        core::array::from_fn(|index| {
            let histogram = &self.0[index];
            StageSummary {
                count: histogram.len(),
                p50: histogram.value_at_quantile(0.5),
                p99: histogram.value_at_quantile(0.99),
                p999: histogram.value_at_quantile(0.999),
                max: histogram.max(),
            }
        })
    }
}

/// A thread's access to the histograms. It never waits for them: while somebody reads, durations
/// are kept, and what does not fit is not counted.
#[derive(Debug)]
pub(crate) struct Recorder {
    stages: Arc<Mutex<Stages>>,
    kept: Vec<(Stage, u64, u64)>,
}

impl Recorder {
    pub(crate) fn new(stages: Arc<Mutex<Stages>>) -> Self {
        Self {
            stages,
            kept: Vec::with_capacity(KEPT),
        }
    }

    /// Notes that `count` commands took `nanoseconds` in `stage`.
    pub(crate) fn note(&mut self, stage: Stage, nanoseconds: u64, count: u64) {
        if self.kept.len() < KEPT {
            self.kept.push((stage, nanoseconds, count));
        }
    }

    /// Moves the notes into the histograms, if nobody is at them.
    pub(crate) fn flush(&mut self) {
        if self.kept.is_empty() {
            return;
        }
        if let Some(mut stages) = self.stages.try_lock() {
            for (stage, nanoseconds, count) in self.kept.drain(..) {
                stages.0[stage as usize].saturating_record_n(nanoseconds, count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_wait_for_a_reader_and_are_summarised() {
        let stages = Stages::shared();
        let mut recorder = Recorder::new(Arc::clone(&stages));
        recorder.note(Stage::Apply, 1_000, 99);
        {
            let reader = stages.lock();
            recorder.flush();
            assert_eq!(reader.summaries()[Stage::Apply as usize].count, 0);
        }
        recorder.note(Stage::Apply, 50_000, 1);
        recorder.note(Stage::Reply, u64::MAX, 1);
        recorder.flush();
        let summaries = stages.lock().summaries();
        let apply = summaries[Stage::Apply as usize];
        assert_eq!((apply.count, apply.p50, apply.p99), (100, 1_000, 1_000));
        assert!((49_900..=50_100).contains(&apply.max), "{}", apply.max);
        assert_eq!(summaries[Stage::Reply as usize].count, 1);
    }

    #[test]
    fn a_flood_of_questions_is_answered_from_one_summary() {
        let stages = Stages::shared();
        let mut recorder = Recorder::new(Arc::clone(&stages));
        let mut summaries = Summaries::default();
        // now, the count that is told; one more is noted before each
        for (now, expected) in [(7, 1), (8, 1), (SUMMARY_AGE_NS + 7, 3)] {
            recorder.note(Stage::Apply, 1, 1);
            recorder.flush();
            let apply = summaries.at(now, &stages)[Stage::Apply as usize];
            assert_eq!(apply.count, expected, "at {now}");
        }
    }
}
