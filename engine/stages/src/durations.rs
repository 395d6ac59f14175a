//! Histograms of all stages.

use core::marker::PhantomData;

use foretell_link::{StageBuckets, StageSummary};
use hdrhistogram::Histogram;
use parking_lot::{Mutex, MutexGuard};

use crate::Stages;

/// Longest distinguished duration; longer ones count as this.
const LONGEST_NS: u64 = 60_000_000_000;
/// Significant digits of a recorded duration.
const DIGITS: u8 = 3;

/// The durations of the stages `S`. Recording locks `live` only and waits at most for the addition
/// of one histogram. Readers and the once-a-second rotation lock `closed` first, then `live`
/// briefly.
#[derive(Debug)]
pub struct Durations<S> {
    /// Durations since the last rotation.
    live: Mutex<Vec<Histogram<u64>>>,
    closed: Mutex<Closed>,
    stages: PhantomData<fn(S)>,
}

#[derive(Debug)]
struct Closed {
    /// Durations from the start to the last rotation.
    total: Vec<Histogram<u64>>,
    second: Vec<StageSummary>,
    /// Empty histograms, swapped with `live` at the next rotation.
    spare: Vec<Histogram<u64>>,
}

/// Summaries of one stage's durations.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StageDurations {
    /// Since the process started.
    pub since_start: StageSummary,
    /// During the last whole second.
    pub second: StageSummary,
    /// Since the process started, by buckets.
    pub buckets: StageBuckets,
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
    /// Records one duration; may wait for the lock briefly. A thread that must not wait uses a
    /// [`crate::Recorder`].
    pub fn record(&self, stage: S, nanoseconds: u64) {
        self.live.lock()[stage.number()].saturating_record(nanoseconds);
    }

    /// The histograms to record into, unless the lock is taken.
    pub(crate) fn try_live(&self) -> Option<MutexGuard<'_, Vec<Histogram<u64>>>> {
        self.live.try_lock()
    }

    /// Summaries of every stage, in the order of [`Stages::ALL`]. Reads every bucket: takes about
    /// half a millisecond.
    pub fn summaries(&self) -> Vec<StageDurations> {
        let closed = self.closed.lock();
        let summaries = S::ALL.iter().map(|stage| {
            let number = stage.number();
            let mut since_start = closed.total[number].clone();
            add(&mut since_start, &self.live.lock()[number]);
            StageDurations {
                since_start: summary(&since_start),
                buckets: buckets(&since_start),
                second: closed.second[number],
            }
        });
        summaries.collect()
    }

    /// Ends a second: adds its durations to the totals. `log` gets the histograms of stages with
    /// durations in that second.
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

fn buckets(histogram: &Histogram<u64>) -> StageBuckets {
    let mut buckets = StageBuckets::default();
    for recorded in histogram.iter_recorded() {
        let middle = histogram.median_equivalent(recorded.value_iterated_to());
        buckets.add(middle, recorded.count_at_value());
    }
    buckets
}

#[cfg(test)]
mod tests {
    use foretell_link::Stage;

    use super::*;

    #[test]
    fn a_second_is_told_until_the_next_and_stays_in_the_whole() {
        let durations = Durations::<Stage>::default();
        let summaries = || durations.summaries()[Stage::Apply as usize];
        let close = || {
            let mut logged = Vec::new();
            durations.close_second(|stage, second| logged.push((stage, second.len())));
            logged
        };
        durations.record(Stage::Apply, 1_000);
        durations.record(Stage::Apply, 3_000);
        assert_eq!(
            (summaries().since_start.count, summaries().second.count),
            (2, 0)
        );
        assert_eq!(close(), [(Stage::Apply, 2)]);
        durations.record(Stage::Apply, u64::MAX);
        let both = summaries();
        assert_eq!((both.since_start.count, both.second.count), (3, 2));
        assert!((3_000..3_010).contains(&both.second.max));
        assert!(
            both.since_start.max >= LONGEST_NS,
            "the longest counts as that"
        );
        let bounds = foretell_link::StageBuckets::BOUNDS;
        let of_three = |duration: u64| bounds.partition_point(|bound| *bound < duration);
        let mut expected = [0; 25];
        for duration in [1_000, 3_000, LONGEST_NS] {
            expected[of_three(duration)] += 1;
        }
        assert_eq!((expected[0], expected[2], expected[24]), (1, 1, 1));
        assert_eq!(both.buckets.counts, expected);
        let sum = both.buckets.sum - LONGEST_NS;
        assert!(sum < LONGEST_NS / 500, "to three digits: {sum}");
        assert_eq!(close(), [(Stage::Apply, 1)]);
        assert_eq!(close(), []);
        assert_eq!(
            (summaries().since_start.count, summaries().second.count),
            (3, 0)
        );
    }
}
