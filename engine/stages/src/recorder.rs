//! A thread's access to the histograms.

use std::sync::Arc;

use crate::{Durations, Stages};

/// Durations kept by a thread until it gets at the histograms.
const KEPT: usize = 4_096;

/// Notes durations without ever waiting or allocating: while somebody is at the histograms they
/// are kept, and what does not fit is not counted.
#[derive(Debug)]
pub struct Recorder<S> {
    durations: Arc<Durations<S>>,
    kept: Vec<(S, u64, u64)>,
}

impl<S: Stages> Recorder<S> {
    /// A recorder for one thread.
    #[must_use]
    pub fn new(durations: Arc<Durations<S>>) -> Self {
        Self {
            durations,
            kept: Vec::with_capacity(KEPT),
        }
    }

    /// Notes that each of `count` commands took `nanoseconds` in `stage`.
    pub fn note(&mut self, stage: S, nanoseconds: u64, count: u64) {
        if self.kept.len() < KEPT {
            self.kept.push((stage, nanoseconds, count));
        }
    }

    /// Moves the notes into the histograms, if nobody is at them.
    pub fn flush(&mut self) {
        if self.kept.is_empty() {
            return;
        }
        if let Some(mut live) = self.durations.try_live() {
            for (stage, nanoseconds, count) in self.kept.drain(..) {
                live[stage.number()].saturating_record_n(nanoseconds, count);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use foretell_link::Stage;

    use super::*;

    #[test]
    fn notes_wait_for_a_reader_and_are_summarised() {
        let durations = Arc::new(Durations::default());
        let mut recorder = Recorder::new(Arc::clone(&durations));
        let apply = || durations.tell()[Stage::Apply as usize].since_start;
        recorder.note(Stage::Apply, 1_000, 99);
        {
            let _reader = durations.try_live().expect("nobody else is there");
            recorder.flush();
        }
        assert_eq!(apply().count, 0);
        recorder.note(Stage::Apply, 50_000, 1);
        recorder.flush();
        assert_eq!(
            (apply().count, apply().p50, apply().p99),
            (100, 1_000, 1_000)
        );
        assert!((49_900..=50_100).contains(&apply().max));
    }
}
