//! Wait-free recording for one thread.

use std::sync::Arc;

use crate::{Durations, Stages};

/// Capacity of the buffer, in durations.
const BUFFER_CAPACITY: usize = 4_096;

/// Records durations without waiting or allocating. While the histograms are locked, durations are
/// buffered; durations beyond the buffer are dropped.
#[derive(Debug)]
pub struct Recorder<S> {
    durations: Arc<Durations<S>>,
    buffered: Vec<(S, u64, u64)>,
}

impl<S: Stages> Recorder<S> {
    /// A recorder for one thread.
    #[must_use]
    pub fn new(durations: Arc<Durations<S>>) -> Self {
        Self {
            durations,
            buffered: Vec::with_capacity(BUFFER_CAPACITY),
        }
    }

    /// Records that each of `count` commands took `nanoseconds` in `stage`.
    pub fn record(&mut self, stage: S, nanoseconds: u64, count: u64) {
        if self.buffered.len() < BUFFER_CAPACITY {
            self.buffered.push((stage, nanoseconds, count));
        }
    }

    /// Moves the buffered durations into the histograms, unless these are locked.
    pub fn flush(&mut self) {
        if self.buffered.is_empty() {
            return;
        }
        if let Some(mut live) = self.durations.try_live() {
            for (stage, nanoseconds, count) in self.buffered.drain(..) {
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
        let apply = || durations.summaries()[Stage::Apply as usize].since_start;
        recorder.record(Stage::Apply, 1_000, 99);
        {
            let _reader = durations.try_live().expect("nobody else is there");
            recorder.flush();
        }
        assert_eq!(apply().count, 0);
        recorder.record(Stage::Apply, 50_000, 1);
        recorder.flush();
        assert_eq!(
            (apply().count, apply().p50, apply().p99),
            (100, 1_000, 1_000)
        );
        assert!((49_900..=50_100).contains(&apply().max));
    }
}
