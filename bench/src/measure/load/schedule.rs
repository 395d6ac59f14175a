//! Due times at a constant rate, fixed before the run. They are independent of the server, so a
//! stalled server is charged for every request due during the stall.

use super::clock::SECOND;

/// Due times of one sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// Start of the run in nanoseconds.
    start: u64,
    /// Requests per second of all senders together.
    rate: u32,
    /// This sender has the ticks `first`, `first + step`, ….
    first: u64,
    step: u64,
}

impl Schedule {
    /// All ticks of a run; `rate` is at least 1.
    pub(super) fn new(start: u64, rate: u32) -> Self {
        Self {
            start,
            rate: rate.max(1),
            first: 0,
            step: 1,
        }
    }

    /// The share of one of `senders` senders.
    pub(super) fn share(self, sender: usize, senders: usize) -> Self {
        Self {
            first: sender as u64,
            step: senders.max(1) as u64,
            ..self
        }
    }

    /// Due time of this sender's request `index`. Computed from the start, so rounding never
    /// accumulates.
    pub(super) fn due(&self, index: usize) -> u64 {
        let tick = u128::from(self.first) + u128::from(self.step) * index as u128;
        let after = tick * u128::from(SECOND) / u128::from(self.rate);
        self.start + u64::try_from(after).unwrap_or(u64::MAX - self.start)
    }

    /// Number of this sender's requests in a run of `ticks` ticks.
    pub(super) fn count(&self, ticks: usize) -> usize {
        let (ticks, first) = (ticks as u64, self.first);
        let count = ticks.saturating_sub(first).div_ceil(self.step);
        usize::try_from(count).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_never_drifts(start in 0..1_u64 << 50, rate in 1..2_000_000_u32, index in 0..10_000_000_usize) {
            let schedule = Schedule::new(start, rate);
            let due = u128::from(schedule.due(index) - start);
            let exact = index as u128 * u128::from(SECOND);
            // At most a nanosecond early and never late, at any point of the run.
            prop_assert!(due * u128::from(rate) <= exact);
            prop_assert!((due + 1) * u128::from(rate) > exact);
            prop_assert!(schedule.due(index + 1) >= schedule.due(index));
        }

        #[test]
        fn senders_share_every_tick_once(rate in 1..100_000_u32, senders in 1..9_usize, ticks in 0..500_usize) {
            let whole = Schedule::new(7, rate);
            let mut shared: Vec<u64> = (0..senders)
                .map(|sender| whole.share(sender, senders))
                .flat_map(|part| (0..part.count(ticks)).map(move |index| part.due(index)))
                .collect();
            shared.sort_unstable();
            let all: Vec<u64> = (0..ticks).map(|tick| whole.due(tick)).collect();
            prop_assert_eq!(shared, all);
        }
    }
}
