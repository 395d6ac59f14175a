//! Cost, fees and profit of a wallet's position in one token (docs/verify/rules.md §18).
//!
//! All amounts are integers: shares in lots, money in micros. Sums are differences or accumulate
//! over time, so they may be negative or larger than a balance; 128 bits hold them.

use core::ops::{AddAssign, SubAssign};

use foretell_model::codec::{CodecError, Fixed, Stored, fixed};
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{Lots, Micros, Outcome, Payout};

/// Price of each share in a split or merge, in price units.
const HALF: u16 = PRICE_ONE / 2;

fixed! {
    /// What shares cost their wallet, in micros.
    #[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
    pub struct Basis {
        /// Their value when they were bought: `C` of docs/verify/rules.md §18. Negative after a
        /// conversion that paid out more collateral than the converted No shares had cost.
        pub cost: i128,
        /// The fees paid to buy them: `F`. Never negative.
        pub fees: i128,
    }
}

impl Basis {
    /// Of shares bought without a fee.
    #[must_use]
    pub const fn of_cost(cost: i128) -> Self {
        Self { cost, fees: 0 }
    }

    /// Cost and fees.
    #[must_use]
    pub const fn total(self) -> i128 {
        self.cost + self.fees
    }

    /// The part of `gone` of `held` lots (at least one), each amount floored toward −∞.
    fn part(self, gone: Lots, held: Lots) -> Self {
        // The divisor is positive, so Euclid's quotient is the floor.
        let part = |amount: i128| (amount * i128::from(gone.0)).div_euclid(i128::from(held.0));
        Self {
            cost: part(self.cost),
            fees: part(self.fees),
        }
    }
}

impl AddAssign for Basis {
    fn add_assign(&mut self, other: Self) {
        self.cost += other.cost;
        self.fees += other.fees;
    }
}

impl SubAssign for Basis {
    fn sub_assign(&mut self, other: Self) {
        self.cost -= other.cost;
        self.fees -= other.fees;
    }
}

/// One wallet's position in one token, from its first share until it holds none.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Position {
    lots: Lots,
    basis: Basis,
    bought: u128,
    spent: i128,
    realized: i128,
}

/// Decoding rejects a position whose cost or fees exceed this, or whose `bought`, `spent` or
/// `realized` exceeds [`MOST_SUM`], in either direction. Both are far above the limits
/// of balances (docs/verify/rules.md §1), and too small to overflow later arithmetic.
const MOST_COST: u128 = 1 << 72;
const MOST_SUM: u128 = 1 << 96;

impl Stored for Position {
    fn put(&self, out: &mut Vec<u8>) {
        (self.lots, self.basis).put(out);
        (self.bought, self.spent, self.realized).put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        let (lots, basis): (Lots, Basis) = Stored::take(from)?;
        let (bought, spent, realized): (u128, i128, i128) = Stored::take(from)?;
        let costs = [basis.cost, basis.fees].map(i128::unsigned_abs);
        let sums = [bought, spent.unsigned_abs(), realized.unsigned_abs()];
        let is_sane = basis.fees >= 0
            && costs.iter().all(|cost| *cost <= MOST_COST)
            && sums.iter().all(|sum| *sum <= MOST_SUM);
        if !is_sane {
            return Err(CodecError::Inconsistent("position"));
        }
        Ok(Self {
            lots,
            basis,
            bought,
            spent,
            realized,
        })
    }
}

impl Fixed for Position {
    const SIZE: usize = <(Lots, Basis) as Fixed>::SIZE + <(u128, i128, i128) as Fixed>::SIZE;
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

    /// Cost and fees of the shares held.
    #[must_use]
    pub const fn basis(&self) -> Basis {
        self.basis
    }

    /// Total lots bought, including split and converted ones.
    #[must_use]
    pub const fn bought(&self) -> u128 {
        self.bought
    }

    /// Total cost of those lots without fees, in micros.
    #[must_use]
    pub const fn spent(&self) -> i128 {
        self.spent
    }

    /// Proceeds less cost and fees of the sold lots, in micros.
    #[must_use]
    pub const fn realized(&self) -> i128 {
        self.realized
    }

    /// Whether no share is left. A later buy opens another position.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.lots.is_zero()
    }

    /// Adds shares with what they cost.
    pub fn buy(&mut self, lots: Lots, basis: Basis) {
        self.lots += lots;
        self.basis += basis;
        self.bought += u128::from(lots.0);
        self.spent += basis.cost;
    }

    /// Removes shares for these proceeds, of which the wallet pays a fee.
    ///
    /// # Errors
    /// [`NotHeld`] for more than the lots held.
    pub fn sell(&mut self, lots: Lots, proceeds: Micros, fee: Micros) -> Result<(), NotHeld> {
        let removed = self.give(lots)?;
        self.realize(i128::from(proceeds.0) - i128::from(fee.0) - removed.total());
        Ok(())
    }

    /// Adds one outcome of a split.
    pub fn split(&mut self, lots: Lots) {
        self.buy(lots, Basis::of_cost(at(lots, HALF).0.into()));
    }

    /// Books one outcome of a merge: a sale of these lots at ½.
    ///
    /// # Errors
    /// [`NotHeld`] for more than the lots held.
    pub fn merge(&mut self, lots: Lots) -> Result<(), NotHeld> {
        self.sell(lots, at(lots, HALF), Micros::ZERO)
    }

    /// Removes one outcome of a redeem at this payout. Returns the proceeds.
    ///
    /// # Errors
    /// [`NotHeld`] for more than the lots held.
    pub fn redeem(&mut self, lots: Lots, payout: Payout, side: Outcome) -> Result<Micros, NotHeld> {
        let proceeds = at(lots, payout.price_units()[side.index()]);
        self.sell(lots, proceeds, Micros::ZERO)?;
        Ok(proceeds)
    }

    /// Removes shares and returns their part of cost and fees: ⌊amount × lots ÷ held⌋, and all of it
    /// with the last share. A sale subtracts it from the proceeds; a conversion moves it to other
    /// positions.
    ///
    /// # Errors
    /// [`NotHeld`] for more than the lots held.
    pub fn give(&mut self, lots: Lots) -> Result<Basis, NotHeld> {
        let (held, gone) = (self.lots, lots);
        let left = held.checked_sub(gone).ok_or(NotHeld { held, gone })?;
        let removed = match left.is_zero() {
            true => self.basis,
            false => self.basis.part(gone, held),
        };
        self.lots = left;
        self.basis -= removed;
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

/// Distribution of a convert's cost and fees: the cost of the given No less the received collateral,
/// and their fees, each in equal parts to the received Yes. When the No of every question is given
/// there is no Yes. Then the collateral less cost and fees is profit of the No positions, in equal
/// parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    cost: EqualParts,
    fees: EqualParts,
    profit: EqualParts,
}

impl Conversion {
    /// A convert of `lots` of No of each of `given` questions (at least one) out of `questions`;
    /// `removed` is the sum of what [`Position::give`] returned.
    #[must_use]
    pub fn new(lots: Lots, removed: Basis, given: u32, questions: u32) -> Self {
        let collateral = i128::from(lots.full_value().0) * (i128::from(given) - 1);
        let others = questions.saturating_sub(given);
        let (cost, fees, profit) = match others {
            0 => (0, 0, collateral - removed.total()),
            _ => (removed.cost - collateral, removed.fees, 0),
        };
        Self {
            cost: EqualParts::of(cost, others),
            fees: EqualParts::of(fees, others),
            profit: EqualParts::of(profit, given),
        }
    }

    /// Cost and fees of the Yes of the `nth` question (from 0, by index) among those not given.
    #[must_use]
    pub const fn yes_basis(&self, nth: u32) -> Basis {
        Basis {
            cost: self.cost.part(nth),
            fees: self.fees.part(nth),
        }
    }

    /// Profit of the No of the `nth` question (from 0, by index) among those given.
    #[must_use]
    pub const fn no_profit(&self, nth: u32) -> i128 {
        self.profit.part(nth)
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
