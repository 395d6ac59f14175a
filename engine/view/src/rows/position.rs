//! Cost and profit of a wallet's position in one token (docs/verify/rules.md §18).
//!
//! All amounts are integers: shares in lots, money in micros. Sums are differences or accumulate
//! over time, so they may be negative or larger than a balance; 128 bits hold them. Fees are not
//! included.

use foretell_model::codec::{CodecError, Fixed, Stored};
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{Lots, Micros, Outcome, Payout};

/// Price of each share in a split or merge, in price units.
const HALF: u16 = PRICE_ONE / 2;

/// One wallet's position in one token, from its first share until it holds none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Position {
    lots: Lots,
    cost: i128,
    bought: u128,
    spent: i128,
    realized: i128,
}

/// Decoding rejects a position whose `cost` exceeds this, or whose `bought`, `spent` or `realized`
/// exceeds [`MOST_SUM`], in either direction. Both are far above the limits
/// of balances (docs/verify/rules.md §1), and too small to overflow later arithmetic.
const MOST_COST: u128 = 1 << 72;
const MOST_SUM: u128 = 1 << 96;

impl Stored for Position {
    fn put(&self, out: &mut Vec<u8>) {
        (self.lots, self.cost).put(out);
        (self.bought, self.spent, self.realized).put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let (lots, cost): (Lots, i128) = Stored::take(from)?;
        let (bought, spent, realized): (u128, i128, i128) = Stored::take(from)?;
        let sums = [bought, spent.unsigned_abs(), realized.unsigned_abs()];
        let is_sane = cost.unsigned_abs() <= MOST_COST && sums.iter().all(|sum| *sum <= MOST_SUM);
        if !is_sane {
            return Err(CodecError::Inconsistent("position"));
        }
        Ok(Self {
            lots,
            cost,
            bought,
            spent,
            realized,
        })
    }
}

impl Fixed for Position {
    const SIZE: usize = <(Lots, i128) as Fixed>::SIZE + <(u128, i128, i128) as Fixed>::SIZE;
}

/// More shares were removed than held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{} lots removed of {} held", gone.0, held.0)]
pub struct NotHeld {
    /// Lots held.
    pub held: Lots,
    /// Lots to remove.
    pub gone: Lots,
}

impl Position {
    /// Shares held.
    #[must_use]
    pub const fn lots(&self) -> Lots {
        self.lots
    }

    /// Cost of the shares held, in micros: `C` of docs/verify/rules.md §18. Negative after a
    /// conversion that paid out more collateral than the converted No shares had cost.
    #[must_use]
    pub const fn cost(&self) -> i128 {
        self.cost
    }

    /// Total lots bought, including split and converted ones.
    #[must_use]
    pub const fn bought(&self) -> u128 {
        self.bought
    }

    /// Total cost of those lots, in micros.
    #[must_use]
    pub const fn spent(&self) -> i128 {
        self.spent
    }

    /// Proceeds less the cost of the sold lots, in micros.
    #[must_use]
    pub const fn realized(&self) -> i128 {
        self.realized
    }

    /// Whether no share is left. A later buy opens another position.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.lots.is_zero()
    }

    /// Adds shares with their cost in micros, which only a convert makes negative.
    pub fn buy(&mut self, lots: Lots, cost: i128) {
        self.lots += lots;
        self.cost += cost;
        self.bought += u128::from(lots.0);
        self.spent += cost;
    }

    /// Removes shares for these proceeds.
    ///
    /// # Errors
    /// [`NotHeld`] for more than the lots held.
    pub fn sell(&mut self, lots: Lots, proceeds: Micros) -> Result<(), NotHeld> {
        let removed = self.give(lots)?;
        self.realize(i128::from(proceeds.0) - removed);
        Ok(())
    }

    /// Adds one outcome of a split.
    pub fn split(&mut self, lots: Lots) {
        self.buy(lots, i128::from(at(lots, HALF).0));
    }

    /// Books one outcome of a merge: a sale of these lots at ½.
    ///
    /// # Errors
    /// [`NotHeld`] for more than the lots held.
    pub fn merge(&mut self, lots: Lots) -> Result<(), NotHeld> {
        self.sell(lots, at(lots, HALF))
    }

    /// Removes one outcome of a redeem at this payout.
    ///
    /// # Errors
    /// [`NotHeld`] for more than the lots held.
    pub fn redeem(&mut self, lots: Lots, payout: Payout, side: Outcome) -> Result<(), NotHeld> {
        self.sell(lots, at(lots, payout.price_units()[side.index()]))
    }

    /// Removes shares and returns their part of the cost: ⌊cost × lots ÷ held⌋, and the whole cost
    /// with the last share. A sale subtracts it from the proceeds; a conversion moves it to other
    /// positions.
    ///
    /// # Errors
    /// [`NotHeld`] for more than the lots held.
    pub fn give(&mut self, lots: Lots) -> Result<i128, NotHeld> {
        let (held, gone) = (self.lots, lots);
        let left = held.checked_sub(gone).ok_or(NotHeld { held, gone })?;
        let removed = if left.is_zero() {
            self.cost
        } else {
            // The divisor is positive, so Euclid's quotient is the floor.
            (self.cost * i128::from(gone.0)).div_euclid(i128::from(held.0))
        };
        self.lots = left;
        self.cost -= removed;
        Ok(removed)
    }

    /// Adds a profit (negative: a loss), in micros.
    pub const fn realize(&mut self, profit: i128) {
        self.realized += profit;
    }
}

const fn at(lots: Lots, price_units: u16) -> Micros {
    Micros(lots.0 * price_units as u64)
}

/// Distribution of a convert's cost: the cost of the given No less the received collateral, in
/// equal parts to the received Yes. When the No of every question is given there is no Yes. Then
/// the collateral less the cost is profit of the No positions, in equal parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    parts: EqualParts,
    to_yes: bool,
}

impl Conversion {
    /// A convert of `lots` of No of each of `given` questions (at least one) out of `questions`;
    /// `removed` is the sum of the costs returned by [`Position::give`].
    #[must_use]
    pub fn new(lots: Lots, removed: i128, given: u32, questions: u32) -> Self {
        let collateral = i128::from(lots.full_value().0) * (i128::from(given) - 1);
        let others = questions.saturating_sub(given);
        let to_yes = others > 0;
        let parts = if to_yes {
            EqualParts::of(removed - collateral, others)
        } else {
            EqualParts::of(collateral - removed, given)
        };
        Self { parts, to_yes }
    }

    /// Cost of the Yes of the `nth` question (from 0, by index) among those not given.
    #[must_use]
    pub const fn yes_cost(&self, nth: u32) -> i128 {
        if self.to_yes { self.parts.part(nth) } else { 0 }
    }

    /// Profit of the No of the `nth` question (from 0, by index) among those given.
    #[must_use]
    pub const fn no_profit(&self, nth: u32) -> i128 {
        if self.to_yes { 0 } else { self.parts.part(nth) }
    }
}

/// An amount in equal parts, each floored toward −∞; the first also gets the remainder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct EqualParts {
    each: i128,
    remainder: i128,
}

impl EqualParts {
    fn of(amount: i128, parts: u32) -> Self {
        let parts = i128::from(parts.max(1));
        Self {
            each: amount.div_euclid(parts),
            remainder: amount.rem_euclid(parts),
        }
    }

    const fn part(self, nth: u32) -> i128 {
        match nth {
            0 => self.each + self.remainder,
            _ => self.each,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_would_overflow_later_is_refused() {
        let read = Position::take(&mut &[0x7F; Position::SIZE][..]);
        assert_eq!(
            read,
            Err(CodecError::InvalidValue {
                field: "Lots",
                value: 0x7F7F_7F7F_7F7F_7F7F,
            })
        );
        let mut bytes = [0x7F; Position::SIZE];
        bytes[..Lots::SIZE].fill(0);
        let read = Position::take(&mut &bytes[..]);
        assert_eq!(read, Err(CodecError::Inconsistent("position")));
    }
}
