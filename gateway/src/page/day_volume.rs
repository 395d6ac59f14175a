//! The traded volume of a market in the last 24 hours. The view keeps sums since the beginning only,
//! so this counts the market's trades once, as requests ask for it, in steps of ten minutes.

use std::collections::VecDeque;

use foretell_model::{MarketNumber, TimeNs};
use foretell_view::View;
use parking_lot::Mutex;

use crate::policy::limits::{DAY_VOLUME_MARKETS, DAY_VOLUME_ROWS};

/// Ten minutes.
const STEP_NS: u64 = 600 * 1_000_000_000;
/// Steps of a day, without the one that is not over.
const DAY_STEPS: u64 = 144;

/// The volume of one market.
#[derive(Debug, Default)]
struct DayVolume {
    /// Sums in micros by step, ascending; steps without a trade are absent.
    steps: VecDeque<(u64, u64)>,
    /// Trades of the market up to here are counted, or older than a day.
    counted: usize,
}

/// A volume as far as it is counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct CountedVolume {
    /// In micros of collateral, saturated.
    pub(crate) micros: u64,
    /// `false` while trades are left to count: the next request continues.
    pub(crate) is_complete: bool,
}

/// Volumes of the markets asked for last; markets a multiple of the slots apart evict each other.
pub(crate) struct DayVolumes(Box<[Slot]>);

/// The market of a slot, and its volume.
type Slot = Mutex<Option<(MarketNumber, DayVolume)>>;

impl Default for DayVolumes {
    fn default() -> Self {
        Self((0..DAY_VOLUME_MARKETS).map(|_| Mutex::default()).collect())
    }
}

impl DayVolumes {
    /// The volume of a market in the 24 hours before `now`; it counts at most `rows` further
    /// trades, and subtracts them from `rows`.
    pub(crate) fn of(
        &self,
        view: &View,
        market: MarketNumber,
        now: TimeNs,
        rows: &mut usize,
    ) -> CountedVolume {
        let slot = &self.0[market.0 as usize % self.0.len()];
        let mut slot = slot.lock();
        let (_, volume) = match &mut *slot {
            Some(known) if known.0 == market => known,
            other => other.insert((market, DayVolume::default())),
        };
        volume.count(view, market, now, rows)
    }
}

impl DayVolume {
    fn count(
        &mut self,
        view: &View,
        market: MarketNumber,
        now: TimeNs,
        rows: &mut usize,
    ) -> CountedVolume {
        let first_step = (now.0 / STEP_NS).saturating_sub(DAY_STEPS);
        let trades = view.trades().of_market(market);
        // A view that was rebuilt may have fewer.
        if self.counted > trades.len() {
            *self = Self::default();
        }
        while self
            .steps
            .front()
            .is_some_and(|(step, _)| *step < first_step)
        {
            self.steps.pop_front();
        }
        let since = TimeNs(first_step * STEP_NS);
        let recent = view.trades_within(trades, since, TimeNs(u64::MAX)).len();
        let start = self.counted.max(trades.len() - recent);
        let end = trades.len().min(start + (*rows).min(DAY_VOLUME_ROWS));
        *rows -= end - start;
        let records = (start..end).filter_map(|index| view.trade(trades.get(index)?));
        for trade in records {
            self.add(trade.time, trade.taker_value().0);
        }
        self.counted = end;
        let sums = self.steps.iter().map(|(_, sum)| *sum);
        CountedVolume {
            micros: sums.fold(0, u64::saturating_add),
            is_complete: end == trades.len(),
        }
    }

    fn add(&mut self, time: TimeNs, micros: u64) {
        let step = time.0 / STEP_NS;
        match self.steps.back_mut() {
            Some((last, sum)) if *last == step => *sum = sum.saturating_add(micros),
            _ => self.steps.push_back((step, micros)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_view::{ALICE, BOB, TestView};

    const MARKET: MarketNumber = MarketNumber(0);
    const OTHER: MarketNumber = MarketNumber(1);
    /// A trade of the test's view: a hundredth of a share at 0.6.
    const VALUE: u64 = 6_000;

    fn seconds(seconds: u64) -> TimeNs {
        TimeNs(seconds * 1_000_000_000)
    }

    /// A view with `count` trades in the first market and half as many in the second; a trade takes
    /// two seconds.
    fn view(count: usize) -> TestView {
        let mut view = TestView::new(2);
        for number in 0..count {
            view.trade(MARKET, (ALICE, 0), (BOB, 0));
            if number % 2 == 0 {
                view.trade(OTHER, (ALICE, 0), (BOB, 0));
            }
        }
        view
    }

    fn volume(of: &DayVolumes, view: &TestView, now: TimeNs, rows: usize) -> (u64, bool) {
        let counted = of.of(&view.0, MARKET, now, &mut { rows });
        (counted.micros / VALUE, counted.is_complete)
    }

    #[test]
    fn a_bounded_count_continues_until_it_is_complete() {
        let (volumes, view) = (DayVolumes::default(), view(10));
        let now = seconds(100);
        assert_eq!(volume(&volumes, &view, now, 4), (4, false));
        assert_eq!(volume(&volumes, &view, now, 4), (8, false));
        assert_eq!(volume(&volumes, &view, now, 4), (10, true));
        assert_eq!(
            volume(&volumes, &view, now, 0),
            (10, true),
            "nothing is counted twice"
        );
        let mut rows = 100;
        let other = volumes.of(&view.0, OTHER, now, &mut rows);
        assert_eq!((other.micros / VALUE, rows), (5, 95));
    }

    #[test]
    fn trades_count_for_a_day_in_steps_of_ten_minutes() {
        let (volumes, mut view) = (DayVolumes::default(), view(800));
        let day = 24 * 3_600;
        // Counted as time passes, and afresh: a trade of a step counts until a day after the step.
        for now in [
            2_000,
            3_000,
            day,
            day + 600,
            day + 1_199,
            day + 1_200,
            2 * day,
        ] {
            let first = ((now / 600_u64).saturating_sub(DAY_STEPS)) * 600;
            let trades = view.0.trades().of_market(MARKET);
            let expected = (0..trades.len())
                .filter_map(|index| view.0.trade(trades.get(index)?))
                .filter(|trade| trade.time >= seconds(first))
                .count() as u64;
            let shown = volume(&volumes, &view, seconds(now), 10_000);
            assert_eq!(shown, (expected, true), "at {now}");
            let fresh = volume(&DayVolumes::default(), &view, seconds(now), 10_000);
            assert_eq!(fresh, shown, "at {now}");
        }
        view.trade(MARKET, (ALICE, 0), (BOB, 0));
        assert!(volume(&volumes, &view, seconds(3_000), 10_000).1);
    }

    #[test]
    fn a_rebuilt_view_is_counted_again() {
        let volumes = DayVolumes::default();
        assert_eq!(volume(&volumes, &view(10), seconds(100), 100), (10, true));
        assert_eq!(volume(&volumes, &view(3), seconds(100), 100), (3, true));
    }
}
