//! What is taken over from a catalog without an operator's consent.

use foretell_model::{FeeSchedule, Lots, Tick};
use jiff::Timestamp;

use crate::exchange::Registered;
use crate::limits::LEAST_EARLY_CLOSINGS;

/// What the operator has settled; settings of `[catalog]`.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Pay out what the upstream says is resolved, without an operator looking at it.
    pub resolve: bool,
    /// Highest fee that a registered market gets: millionths of a unit for a share at the price ½,
    /// where a fee is highest.
    pub max_fee_ppm: u32,
    /// Largest smallest order that a registered market gets.
    pub max_minimum: Lots,
    /// Finest tick that a registered market gets.
    pub finest_tick: Tick,
    /// Of the live markets, how many hundredths may be closed before their end date in a day.
    pub early_close_percent: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            resolve: false,
            max_fee_ppm: 25_000,
            max_minimum: Lots(10_000),
            finest_tick: Tick::Thousandth,
            early_close_percent: 10,
        }
    }
}

impl Policy {
    /// A fee within the bound, or no higher than the present one.
    pub(super) fn allows_fee(&self, here: FeeSchedule, fee: FeeSchedule) -> bool {
        // Per unit of price × (1 − price), which is a quarter at ½.
        let peak =
            |fee: FeeSchedule| u64::from(fee.rate_ppm) << (2 * (MAX_QUARTERS - quarters(fee)));
        let allowed = u64::from(self.max_fee_ppm) << (2 * MAX_QUARTERS);
        peak(fee) <= allowed.max(peak(here))
    }

    /// A smallest order within the bound, or no larger than the present one.
    pub(super) fn allows_minimum(&self, here: Lots, minimum: Lots) -> bool {
        minimum <= self.max_minimum.max(here)
    }

    /// A tick within the bound.
    pub(super) fn allows_tick(&self, tick: Tick) -> bool {
        tick.units() >= self.finest_tick.units()
    }

    /// Early closings of a day, with so many live markets.
    #[must_use]
    pub fn early_closings(&self, live: u64) -> u64 {
        match u64::from(self.early_close_percent) {
            0 => 0,
            percent => (live.saturating_mul(percent) / 100).max(LEAST_EARLY_CLOSINGS),
        }
    }
}

/// Highest exponent of a fee.
const MAX_QUARTERS: u8 = foretell_model::limits::MAX_FEE_EXPONENT;

/// How often a fee's rate is divided by four at the price ½.
fn quarters(fee: FeeSchedule) -> u8 {
    fee.exponent.min(MAX_QUARTERS)
}

/// What one comparison may take over.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    /// What the operator has settled.
    pub policy: Policy,
    /// The present.
    pub now: Timestamp,
    /// Markets that may still be registered.
    pub new_markets: u64,
    /// Live markets, as far as they were counted.
    pub live: u64,
    /// Markets that were closed before their end date today.
    pub early_closed: u64,
}

impl Allowance {
    /// Takes so many registrations of the new markets that may still be, or none of them.
    #[must_use]
    pub fn registers(&mut self, markets: u64) -> bool {
        let fits = markets <= self.new_markets;
        if fits {
            self.new_markets -= markets;
            self.live += markets;
        }
        fits
    }

    /// Whether a market may be closed: it has ended by the date that it was registered with, which the
    /// upstream cannot change any more, or it is one of few.
    pub(super) fn closes(&mut self, market: &Registered) -> bool {
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
