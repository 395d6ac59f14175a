//! Sums over all markets: those that are closed and have no payout, and the collateral that shares lock.

use foretell_model::{Lots, MarketState, Micros, TimeNs};
use foretell_view::{Market, View};
use parking_lot::Mutex;

/// How long a count serves scrapes: it reads every market.
const FRESH: TimeNs = TimeNs(5_000_000_000);

/// Closed markets without a payout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unpaid {
    pub(crate) markets: u64,
    /// Seconds since the oldest closed; 0 without one.
    pub(crate) oldest_seconds: u64,
    /// Collateral locked by the shares of all markets.
    pub(crate) locked: Micros,
}

impl Unpaid {
    pub(crate) fn of(view: &View, now: TimeNs) -> Self {
        let mut sums = Self::default();
        for (_, market) in view.markets().iter() {
            sums.locked = Micros(sums.locked.0.saturating_add(market.locked().0));
            if waits(market) {
                sums.markets += 1;
                let seconds = closed_seconds(market, now);
                sums.oldest_seconds = sums.oldest_seconds.max(seconds);
            }
        }
        sums
    }
}

/// Whether somebody waits for its payout: a hidden market that nobody holds is forgotten.
fn waits(market: &Market) -> bool {
    market.state == MarketState::Closed && (!market.archived || market.supply != [Lots::ZERO; 2])
}

/// Seconds since a market was closed.
pub(crate) fn closed_seconds(market: &Market, now: TimeNs) -> u64 {
    const NANOS: u64 = 1_000_000_000;
    let since = market
        .closed
        .map_or(0, |closed| now.0.saturating_sub(closed.0));
    since / NANOS
}

/// The last count of the scrapes, and its time.
#[derive(Debug, Default)]
pub(crate) struct UnpaidCount(Mutex<(TimeNs, Unpaid)>);

impl UnpaidCount {
    /// The count, at most five seconds old.
    pub(crate) fn get(&self, view: &View, now: TimeNs) -> Unpaid {
        let mut last = self.0.lock();
        let (counted, unpaid) = *last;
        if counted.0 > 0 && now.0.saturating_sub(counted.0) < FRESH.0 {
            return unpaid;
        }
        let unpaid = Unpaid::of(view, now);
        *last = (now, unpaid);
        unpaid
    }
}
