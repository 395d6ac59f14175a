//! What a wallet's holding of one token cost, and what it earned (protocol 12).
//!
//! Everything is an integer: shares in lots, money in micros. A sum here can only be negative or
//! larger than a balance because it is a difference or adds up over time, so 128 bits hold it.
//! Fees are not part of it.

use foretell_model::quantity::PRICE_ONE;
use foretell_model::{Lots, Micros, Outcome, Payout};

use crate::row::{Fixed, Stored};

/// What a full set's half counts at in a split or merge, in price units.
const HALF: u16 = PRICE_ONE / 2;

/// One wallet's position in one token, from its opening until its shares are gone.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Position {
    lots: Lots,
    cost: i128,
    bought: u128,
    spent: i128,
    realized: i128,
}

/// The largest cost and the largest sum that are read back: far above what balances allow
/// (protocol 1), and far below where later arithmetic could overflow.
const MOST_COST: u128 = 1 << 72;
const MOST_SUM: u128 = 1 << 96;

impl Stored for Position {
    fn put(&self, out: &mut Vec<u8>) {
        (self.lots, self.cost).put(out);
        (self.bought, self.spent, self.realized).put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let (lots, cost): (Lots, i128) = Stored::take(from)?;
        let (bought, spent, realized): (u128, i128, i128) = Stored::take(from)?;
        let sums = [bought, spent.unsigned_abs(), realized.unsigned_abs()];
        let is_sane = cost.unsigned_abs() <= MOST_COST && sums.iter().all(|sum| *sum <= MOST_SUM);
        is_sane.then_some(Self {
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

/// More shares went than were held.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{} lots went of {}", gone.0, held.0)]
pub struct NotHeld {
    /// What was held.
    pub held: Lots,
    /// What went.
    pub gone: Lots,
}

impl Position {
    /// Shares held.
    #[must_use]
    pub const fn lots(&self) -> Lots {
        self.lots
    }

    /// What the shares held cost, in micros: `C` of protocol 12. Negative when a convert paid more
    /// collateral than its No had cost.
    #[must_use]
    pub const fn cost(&self) -> i128 {
        self.cost
    }

    /// All lots ever bought, split and converted ones included.
    #[must_use]
    pub const fn bought(&self) -> u128 {
        self.bought
    }

    /// What they cost, in micros.
    #[must_use]
    pub const fn spent(&self) -> i128 {
        self.spent
    }

    /// Proceeds less the cost of what was sold, in micros.
    #[must_use]
    pub const fn realized(&self) -> i128 {
        self.realized
    }

    /// Whether the last share is gone. A buy after that opens another position.
    #[must_use]
    pub const fn is_closed(&self) -> bool {
        self.lots.is_zero()
    }

    /// Shares came at this cost in micros, which only a convert makes negative.
    pub fn buy(&mut self, lots: Lots, cost: i128) {
        self.lots += lots;
        self.cost += cost;
        self.bought += u128::from(lots.0);
        self.spent += cost;
    }

    /// Shares went for these proceeds.
    ///
    /// # Errors
    /// There are not so many.
    pub fn sell(&mut self, lots: Lots, proceeds: Micros) -> Result<(), NotHeld> {
        let removed = self.give(lots)?;
        self.realize(i128::from(proceeds.0) - removed);
        Ok(())
    }

    /// This side of a split.
    pub fn split(&mut self, lots: Lots) {
        self.buy(lots, i128::from(at(lots, HALF).0));
    }

    /// This side of a merge.
    ///
    /// # Errors
    /// There are not so many.
    pub fn merge(&mut self, lots: Lots) -> Result<(), NotHeld> {
        self.sell(lots, at(lots, HALF))
    }

    /// This side of a redeem, in a market that paid so.
    ///
    /// # Errors
    /// There are not so many.
    pub fn redeem(&mut self, lots: Lots, payout: Payout, side: Outcome) -> Result<(), NotHeld> {
        self.sell(lots, at(lots, payout.price_units()[side.index()]))
    }

    /// Takes shares away and returns their cost, for a convert to move: ⌊cost × lots ÷ held⌋, and
    /// all of it with the last share.
    ///
    /// # Errors
    /// There are not so many.
    pub fn give(&mut self, lots: Lots) -> Result<i128, NotHeld> {
        let (held, gone) = (self.lots, lots);
        let left = held.checked_sub(gone).ok_or(NotHeld { held, gone })?;
        let removed = if left.is_zero() {
            self.cost
        } else {
            // A positive divisor: Euclid's quotient is the floor.
            (self.cost * i128::from(gone.0)).div_euclid(i128::from(held.0))
        };
        self.lots = left;
        self.cost -= removed;
        Ok(removed)
    }

    /// Adds a profit, or a loss, in micros.
    pub const fn realize(&mut self, profit: i128) {
        self.realized += profit;
    }
}

const fn at(lots: Lots, price_units: u16) -> Micros {
    Micros(lots.0 * price_units as u64)
}

/// How a convert's cost goes over to other positions: the cost of the No given less the collateral
/// received, in equal parts onto the Yes received. When every question's No is given there is no
/// Yes, and the collateral less the cost is profit of the No positions, in equal parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conversion {
    parts: EqualParts,
    to_yes: bool,
}

impl Conversion {
    /// A convert of `lots` of No of each of `given` questions (at least one) out of `questions`;
    /// `removed` is the sum of what [`Position::give`] returned for them.
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

    /// Cost of the Yes of the question that comes `nth` (from 0) among those not given, by index.
    #[must_use]
    pub const fn yes_cost(&self, nth: u32) -> i128 {
        if self.to_yes { self.parts.part(nth) } else { 0 }
    }

    /// Profit of the No of the question that comes `nth` (from 0) among those given, by index.
    #[must_use]
    pub const fn no_profit(&self, nth: u32) -> i128 {
        if self.to_yes { 0 } else { self.parts.part(nth) }
    }
}

/// An amount in equal parts, each floored toward −∞; the first takes the remainder too.
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
