//! Catalog changes that are applied without an operator's consent.

use std::collections::BTreeSet;

use foretell_model::{ConditionId, FeeSchedule, Lots, Tick};
use jiff::Timestamp;

use crate::exchange::RegisteredMarket;
use crate::limits::MIN_EARLY_CLOSINGS;

/// The operator's policy; settings of `[catalog]`.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Pay out the upstream's resolutions without an operator's review.
    pub resolve: bool,
    /// Maximum fee of a registered market, in millionths of a unit per share at the price ½, where
    /// a fee is highest.
    pub max_fee_ppm: u32,
    /// Maximum of a registered market's minimum order.
    pub max_minimum: Lots,
    /// Finest tick of a registered market.
    pub finest_tick: Tick,
    /// Maximum early closings per day, in percent of the live markets.
    pub early_close_percent: u32,
    /// Maximum markets that the upstream holds, in percent of the live markets; known answers do not count.
    pub hold_percent: u32,
    /// Whether markets that vanished from the upstream are held.
    pub hold_vanished: bool,
    /// Longest delay of a registered market.
    pub max_taker_delay_ms: u32,
    /// Largest share of the fee that a registered market's makers get, in millionths.
    pub max_rebate_ppm: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            resolve: false,
            max_fee_ppm: 25_000,
            max_minimum: Lots(10_000),
            finest_tick: Tick::Thousandth,
            early_close_percent: 10,
            hold_percent: 20,
            hold_vanished: true,
            max_taker_delay_ms: 10_000,
            max_rebate_ppm: 500_000,
        }
    }
}

impl Policy {
    /// Whether a fee is within the limit or no higher than the current one.
    pub(super) fn allows_fee(&self, here: FeeSchedule, fee: FeeSchedule) -> bool {
        // The rate is per unit of price × (1 − price), which is ¼ at ½.
        let peak =
            |fee: FeeSchedule| u64::from(fee.rate_ppm) << (2 * (MAX_QUARTERS - quarters(fee)));
        let allowed = u64::from(self.max_fee_ppm) << (2 * MAX_QUARTERS);
        peak(fee) <= allowed.max(peak(here))
    }

    /// Whether a minimum order is within the limit or no larger than the current one.
    pub(super) fn allows_minimum(&self, here: Lots, minimum: Lots) -> bool {
        minimum <= self.max_minimum.max(here)
    }

    /// Whether a tick is within the limit.
    pub(super) fn allows_tick(&self, tick: Tick) -> bool {
        tick.units() >= self.finest_tick.units()
    }

    /// Allowed early closings per day with `live` live markets.
    #[must_use]
    pub fn early_closings(&self, live: u64) -> u64 {
        part_of(live, self.early_close_percent)
    }
}

/// A percentage of the live markets: none, or at least a few.
fn part_of(live: u64, percent: u32) -> u64 {
    match u64::from(percent) {
        0 => 0,
        percent => (live.saturating_mul(percent) / 100).max(MIN_EARLY_CLOSINGS),
    }
}

/// Maximum exponent of a fee.
const MAX_QUARTERS: u8 = foretell_model::limits::MAX_FEE_EXPONENT;

/// How often the price ½ divides a fee's rate by four.
fn quarters(fee: FeeSchedule) -> u8 {
    fee.exponent.min(MAX_QUARTERS)
}

/// Markets that the upstream stopped and whose answer is unknown, as far as they are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stops {
    /// Those that are held.
    pub held: BTreeSet<ConditionId>,
    /// Those that trade on, because too many are held.
    pub waiting: BTreeSet<ConditionId>,
}

impl Stops {
    /// Forgets a market that ended, goes on, or whose answer is known.
    pub(super) fn forget(&mut self, market: &ConditionId) {
        self.held.remove(market);
        self.waiting.remove(market);
    }
}

/// Remaining allowance of one comparison.
#[derive(Clone, Debug)]
pub struct Allowance {
    /// The operator's policy.
    pub policy: Policy,
    /// The current time.
    pub now: Timestamp,
    /// Registrations left.
    pub new_markets: u64,
    /// Counted live markets.
    pub live: u64,
    /// Early closings so far in the current period.
    pub early_closed: u64,
    /// Markets that the upstream stopped so far.
    pub stops: Stops,
    /// Markets that vanished from the upstream.
    pub vanished: BTreeSet<ConditionId>,
}

impl Allowance {
    /// Subtracts `markets` registrations if all of them are allowed, else none.
    #[must_use]
    pub fn registers(&mut self, markets: u64) -> bool {
        let fits = markets <= self.new_markets;
        if fits {
            self.new_markets -= markets;
            self.live += markets;
        }
        fits
    }

    /// Whether this market may be held too.
    pub(super) fn holds(&mut self, market: ConditionId) -> bool {
        let held = u64::try_from(self.stops.held.len()).unwrap_or(u64::MAX);
        let is_one_of_few = held < part_of(self.live, self.policy.hold_percent);
        if is_one_of_few {
            self.stops.held.insert(market);
        }
        is_one_of_few
    }

    /// Whether a market may be closed: its registered end date, which the upstream cannot change,
    /// has passed, or the allowance of early closings is not used up.
    pub(super) fn closes(&mut self, market: &RegisteredMarket) -> bool {
        if market.end_date.is_some_and(|end| end <= self.now) {
            return true;
        }
        let is_one_of_few = self.early_closed < self.policy.early_closings(self.live);
        self.early_closed += u64::from(is_one_of_few);
        is_one_of_few
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fee_is_held_against_its_highest_point() {
        let fee = |rate_ppm, exponent| FeeSchedule { rate_ppm, exponent };
        let policy = Policy::default();
        let none = FeeSchedule::default();
        for (highest, exponent) in [(25_000, 0), (100_000, 1), (400_000, 2)] {
            assert!(policy.allows_fee(none, fee(highest, exponent)));
            assert!(!policy.allows_fee(none, fee(highest + 1, exponent)));
        }
        assert!(
            policy.allows_fee(fee(500_000, 1), fee(400_000, 1)),
            "lower than now"
        );
        assert!(!policy.allows_fee(fee(500_000, 1), fee(600_000, 1)));
    }

    #[test]
    fn early_closings_are_a_part_of_the_live_markets() {
        let policy = Policy::default();
        assert_eq!(policy.early_closings(30_000), 3_000);
        assert_eq!(policy.early_closings(3), 5);
        let never = Policy {
            early_close_percent: 0,
            ..policy
        };
        assert_eq!(never.early_closings(30_000), 0);
    }
}
