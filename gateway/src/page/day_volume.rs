//! The traded volume of a market in the last 24 hours. The view keeps sums since the beginning only,
//! so this counts the market's trades once, as requests ask for it, in steps of ten minutes.

use std::collections::VecDeque;

use foretell_model::{MarketNumber, TimeNs};
use foretell_view::View;
use parking_lot::Mutex;

use crate::limits::{DAY_VOLUME_MARKETS, DAY_VOLUME_ROWS};

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
pub(crate) struct DayVolumes(Box<[Mutex<Option<(MarketNumber, DayVolume)>>]>);

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
