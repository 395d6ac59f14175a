//! The histograms of all stages.

use core::marker::PhantomData;

use foretell_link::StageSummary;
use hdrhistogram::Histogram;
use parking_lot::{Mutex, MutexGuard};

use crate::Stages;

/// The longest duration told apart; longer ones count as this.
const LONGEST_NS: u64 = 60_000_000_000;
/// Digits of a duration that are kept.
const DIGITS: u8 = 3;

/// The durations of the stages `S`. Two locks, so that recording waits at most for the adding up
/// of one histogram: `live` is taken for moments, `closed` by readers and once a second.
#[derive(Debug)]
pub struct Durations<S> {
    /// Since the last second closed.
    live: Mutex<Vec<Histogram<u64>>>,
    closed: Mutex<Closed>,
    stages: PhantomData<fn(S)>,
}

#[derive(Debug)]
struct Closed {
    /// Until the last second closed.
    total: Vec<Histogram<u64>>,
    second: Vec<StageSummary>,
    /// Empty, to take the place of `live`.
    spare: Vec<Histogram<u64>>,
}

/// What a stage's durations were.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Told {
    /// Since the process started.
    pub since_start: StageSummary,
    /// Of the last whole second.
    pub second: StageSummary,
}

impl<S: Stages> Default for Durations<S> {
    fn default() -> Self {
        Self {
            live: Mutex::new(empty::<S>()),
            closed: Mutex::new(Closed {
                total: empty::<S>(),
                second: vec![StageSummary::default(); S::ALL.len()],
                spare: empty::<S>(),
            }),
            stages: PhantomData,
        }
    }
}

impl<S: Stages> Durations<S> {
    /// Notes one duration. For whoever may wait a moment; a matching thread has a
    /// [`crate::Recorder`].
    pub fn note(&self, stage: S, nanoseconds: u64) {
        self.live.lock()[stage.number()].saturating_record(nanoseconds);
    }

    /// The histograms to record into, if nobody is at them.
    pub(crate) fn try_live(&self) -> Option<MutexGuard<'_, Vec<Histogram<u64>>>> {
        self.live.try_lock()
    }

    /// What every stage's durations were, in the order of [`Stages::ALL`]. It walks every bucket:
    /// about half a millisecond.
    pub fn tell(&self) -> Vec<Told> {
        let closed = self.closed.lock();
        let told = S::ALL.iter().map(|stage| {
            let number = stage.number();
            let mut since_start = closed.total[number].clone();
            add(&mut since_start, &self.live.lock()[number]);
            Told {
                since_start: summary(&since_start),
                second: closed.second[number],
            }
        });
        told.collect()
    }

    /// Ends a second: what was recorded since the last one becomes part of the whole. `log` sees
    /// the histograms of stages in which something happened.
    pub fn close_second(&self, mut log: impl FnMut(S, &Histogram<u64>)) {
        let mut guard = self.closed.lock();
        let closed = &mut *guard;
        core::mem::swap(&mut *self.live.lock(), &mut closed.spare);
        for stage in S::ALL {
            let number = stage.number();
            let second = &mut closed.spare[number];
            closed.second[number] = summary(second);
            if !second.is_empty() {
                log(*stage, second);
                add(&mut closed.total[number], second);
                second.reset();
            }
        }
    }
}

fn empty<S: Stages>() -> Vec<Histogram<u64>> {
    let bounds = || Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
    S::ALL
        .iter()
        .map(|_| bounds().expect("the bounds are constant and valid"))
        .collect()
}

fn add(total: &mut Histogram<u64>, more: &Histogram<u64>) {
    total.add(more).expect("both have the same bounds");
}

fn summary(histogram: &Histogram<u64>) -> StageSummary {
    if histogram.is_empty() {
        return StageSummary::default();
    }
    StageSummary {
        count: histogram.len(),
        p50: histogram.value_at_quantile(0.5),
        p99: histogram.value_at_quantile(0.99),
        p999: histogram.value_at_quantile(0.999),
        max: histogram.max(),
    }
}

#[cfg(test)]
mod tests {
    use foretell_link::Stage;

    use super::*;

    #[test]
    fn a_second_is_told_until_the_next_and_stays_in_the_whole() {
        let durations = Durations::<Stage>::default();
        let told = || durations.tell()[Stage::Apply as usize];
        let close = || {
            let mut logged = Vec::new();
            durations.close_second(|stage, second| logged.push((stage, second.len())));
            logged
        };
        durations.note(Stage::Apply, 1_000);
        durations.note(Stage::Apply, 3_000);
        assert_eq!((told().since_start.count, told().second.count), (2, 0));
        assert_eq!(close(), [(Stage::Apply, 2)]);
        durations.note(Stage::Apply, u64::MAX);
        let both = told();
        assert_eq!((both.since_start.count, both.second.count), (3, 2));
        assert!((3_000..3_010).contains(&both.second.max));
        assert!(
            both.since_start.max >= LONGEST_NS,
            "the longest counts as that"
        );
        assert_eq!(close(), [(Stage::Apply, 1)]);
        assert_eq!(close(), []);
        assert_eq!((told().since_start.count, told().second.count), (3, 0));
    }
}
