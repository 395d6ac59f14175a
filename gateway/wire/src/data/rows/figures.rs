//! Value and profit of a position: exact in memory, rounded once for the answer
//! (docs/api/data.md §2).

use foretell_model::Price;
use foretell_model::quantity::PRICE_ONE;
use serde::Serialize;

use crate::schema::JsonSchema;
use crate::text::decimal::Millionths;

/// Micros in half a price unit.
const MICROS_PER_HALF_UNIT: i128 = 50;
/// 100 % with six decimals.
const HUNDRED_PERCENT: i128 = 100_000_000;

/// `curPrice` in half price units of 0.00005, so that a midpoint is exact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CurPrice(u16);

impl CurPrice {
    /// The midpoint of two prices.
    ///
    /// # Panics
    /// If a price is above one, which no valid price is.
    #[must_use]
    pub const fn midpoint(bid: Price, ask: Price) -> Self {
        assert!(
            bid.0 <= PRICE_ONE && ask.0 <= PRICE_ONE,
            "prices are at most one"
        );
        Self(bid.0 + ask.0)
    }

    /// An exact price; also a payout.
    ///
    /// # Panics
    /// As [`Self::midpoint`].
    #[must_use]
    pub const fn exactly(price: Price) -> Self {
        Self::midpoint(price, price)
    }

    /// A multiple of 0.00005.
    ///
    /// # Panics
    /// If it is above one.
    #[must_use]
    pub const fn half_units(count: u16) -> Self {
        assert!(count <= 2 * PRICE_ONE, "prices are at most one");
        Self(count)
    }

    /// The price of the other outcome.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self(2 * PRICE_ONE - self.0)
    }
}

/// The exact integers that a position's row is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PositionFigures {
    /// Lots held; 0 = closed.
    pub lots: u64,
    /// Their cost in micros, without fees.
    pub cost: i128,
    /// The fees paid to buy them, in micros.
    pub fees: i128,
    /// Lots ever bought.
    pub bought: u128,
    /// The cost of all bought lots, in micros, without fees.
    pub spent: i128,
    /// Sale proceeds minus cost and fees of the sold lots, in micros.
    pub realized: i128,
    /// Current price of its token.
    pub price: CurPrice,
}

/// The numbers of a row, each in millionths and rounded once. Sorting uses these rounded numbers,
/// which clients see.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RoundedFigures {
    /// Shares.
    pub size: Millionths,
    /// Average price of the held shares; of all bought shares once none is held.
    pub avg_price: Millionths,
    /// Cost of the held shares, without fees.
    pub initial_value: Millionths,
    /// Cost of the held shares, with the fees paid to buy them.
    pub gross_initial_value: Millionths,
    /// Fees paid to buy the held shares.
    pub entry_fees_usdc: Millionths,
    /// Value of the held shares at `curPrice`.
    pub current_value: Millionths,
    /// Profit of the held shares, less their fees; the realized profit once none is held.
    pub cash_pnl: Millionths,
    /// `cashPnl` in percent of `initialValue`.
    pub percent_pnl: Millionths,
    /// Shares.
    pub total_bought: Millionths,
    /// Profit of the shares that left, less all their fees.
    pub realized_pnl: Millionths,
    /// `realizedPnl` in percent of everything bought.
    pub percent_realized_pnl: Millionths,
    /// Midpoint, last trade or payout of the token.
    pub cur_price: Millionths,
}

impl PositionFigures {
    /// Lots at a price, without cost or profit.
    #[must_use]
    pub const fn of_size(lots: u64, price: CurPrice) -> Self {
        Self {
            lots,
            cost: 0,
            fees: 0,
            bought: 0,
            spent: 0,
            realized: 0,
            price,
        }
    }

    /// `currentValue` in half micros: exact, for sums over many positions.
    #[must_use]
    pub fn current_half_micros(&self) -> i128 {
        i128::from(self.lots) * i128::from(self.price.0)
    }

    /// `avgPrice`: of the held shares; of all bought shares once none is held.
    #[must_use]
    pub fn avg_price(&self) -> i128 {
        // (micros per lot) × (100 lots per share).
        match self.lots {
            0 => {
                let bought = i128::try_from(self.bought).unwrap_or(i128::MAX);
                rounded(self.spent * 100, bought)
            }
            lots => rounded(self.cost * 100, lots.into()),
        }
    }

    /// `size`
    #[must_use]
    pub fn size(&self) -> i128 {
        i128::from(self.lots) * 10_000
    }

    /// `currentValue`
    #[must_use]
    pub fn current_value(&self) -> i128 {
        rounded(self.current_half_micros(), 2)
    }

    /// `cashPnl`: of the held shares; the realized profit once none is held.
    #[must_use]
    pub fn cash_pnl(&self) -> i128 {
        match self.lots {
            0 => self.realized,
            _ => rounded(self.gain_half_micros(), 2),
        }
    }

    /// `cashPnl` of the held shares only: 0 once none is held.
    #[must_use]
    pub fn unrealized_pnl(&self) -> i128 {
        match self.lots {
            0 => 0,
            _ => self.cash_pnl(),
        }
    }

    /// `percentPnl`: of the held shares; of the realized profit once none is held.
    #[must_use]
    pub fn percent_pnl(&self) -> i128 {
        match self.lots {
            0 => self.percent_realized_pnl(),
            _ => rounded(self.gain_half_micros() * HUNDRED_PERCENT, 2 * self.cost),
        }
    }

    fn percent_realized_pnl(&self) -> i128 {
        rounded(self.realized * HUNDRED_PERCENT, self.spent)
    }

    fn gain_half_micros(&self) -> i128 {
        self.current_half_micros() - 2 * (self.cost + self.fees)
    }

    /// `curPrice`
    #[must_use]
    pub fn cur_price(&self) -> i128 {
        i128::from(self.price.0) * MICROS_PER_HALF_UNIT
    }

    /// The rounded numbers of its row.
    #[must_use]
    pub fn shown(&self) -> RoundedFigures {
        RoundedFigures {
            size: Millionths(self.size()),
            avg_price: Millionths(self.avg_price()),
            initial_value: Millionths(self.cost),
            gross_initial_value: Millionths(self.cost + self.fees),
            entry_fees_usdc: Millionths(self.fees),
            current_value: Millionths(self.current_value()),
            cash_pnl: Millionths(self.cash_pnl()),
            percent_pnl: Millionths(self.percent_pnl()),
            total_bought: Millionths(i128::try_from(self.bought * 10_000).unwrap_or(i128::MAX)),
            realized_pnl: Millionths(self.realized),
            percent_realized_pnl: Millionths(self.percent_realized_pnl()),
            cur_price: Millionths(self.cur_price()),
        }
    }
}

/// The quotient, rounded half away from zero; 0 for a divisor of 0.
pub(crate) fn rounded(dividend: i128, divisor: i128) -> i128 {
    if divisor == 0 {
        return 0;
    }
    // Most values fit 64 bits, whose division is many times faster.
    if let (Ok(dividend), Ok(divisor)) = (i64::try_from(dividend), i64::try_from(divisor)) {
        return rounded_small(dividend, divisor);
    }
    let (quotient, rest) = (dividend / divisor, dividend % divisor);
    let is_far = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
    match (is_far, (dividend < 0) == (divisor < 0)) {
        (false, _) => quotient,
        (true, true) => quotient + 1,
        (true, false) => quotient - 1,
    }
}

/// [`rounded`] for 64-bit numbers and a divisor other than 0.
fn rounded_small(dividend: i64, divisor: i64) -> i128 {
    let (Some(quotient), Some(rest)) =
        (dividend.checked_div(divisor), dividend.checked_rem(divisor))
    else {
        // Avoids the one overflow of 64-bit division.
        return -i128::from(dividend);
    };
    let is_far = rest.unsigned_abs() >= divisor.unsigned_abs() - rest.unsigned_abs();
    let away = match (dividend < 0) == (divisor < 0) {
        true => 1,
        false => -1,
    };
    i128::from(quotient) + if is_far { away } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decimal;
    use proptest::prelude::*;
    use rstest::rstest;

    #[rstest]
    #[case(1, 2, 1)]
    #[case(-1, 2, -1)]
    #[case(1, -2, -1)]
    #[case(-1, -2, 1)]
    #[case(1, 3, 0)]
    #[case(2, 3, 1)]
    #[case(-2, 3, -1)]
    #[case(7, 7, 1)]
    #[case(0, -5, 0)]
    #[case(5, 0, 0)]
    fn rounding_is_half_away_from_zero(
        #[case] dividend: i128,
        #[case] divisor: i128,
        #[case] expected: i128,
    ) {
        assert_eq!(rounded(dividend, divisor), expected);
    }

    /// 150 bought for 67.50, 40 of them sold with a profit of 6.00, now at 0.505 (a midpoint). The
    /// others had fees of 0.55.
    #[test]
    fn an_open_position_by_hand() {
        let figures = PositionFigures {
            lots: 11_000,
            cost: 49_500_000,
            fees: 550_000,
            bought: 15_000,
            spent: 67_500_000,
            realized: 6_000_000,
            price: CurPrice::midpoint(Price(5_000), Price(5_100)),
        };
        let expected = RoundedFigures {
            size: Millionths(110_000_000),
            avg_price: Millionths(450_000),
            initial_value: Millionths(49_500_000),
            gross_initial_value: Millionths(50_050_000),
            entry_fees_usdc: Millionths(550_000),
            current_value: Millionths(55_550_000),
            cash_pnl: Millionths(5_500_000),
            percent_pnl: Millionths(11_111_111),
            total_bought: Millionths(150_000_000),
            realized_pnl: Millionths(6_000_000),
            percent_realized_pnl: Millionths(8_888_889),
            cur_price: Millionths(505_000),
        };
        assert_eq!(figures.shown(), expected);
    }

    #[test]
    fn a_closed_position_shows_what_was_realized() {
        let figures = PositionFigures {
            lots: 0,
            cost: 0,
            fees: 0,
            bought: 300,
            spent: 1_000_000,
            realized: -333_333,
            price: CurPrice::exactly(Price(0)),
        };
        let shown = figures.shown();
        let nothing = [shown.size, shown.initial_value, shown.current_value];
        assert_eq!(nothing, [Millionths(0); 3]);
        // Average over all bought shares: 1 for 3 shares.
        assert_eq!(shown.avg_price.0, 333_333);
        assert_eq!(
            (shown.cash_pnl.0, shown.percent_pnl.0),
            (-333_333, -33_333_300)
        );
        assert_eq!(
            (shown.realized_pnl.0, shown.percent_realized_pnl.0),
            (-333_333, -33_333_300)
        );
    }

    #[test]
    fn a_cost_below_zero_or_none_divides_as_it_is() {
        let figures = |cost| PositionFigures {
            lots: 1,
            cost,
            fees: 0,
            bought: 1,
            spent: cost,
            realized: 0,
            price: CurPrice::exactly(Price(1)),
        };
        assert_eq!(figures(0).shown().percent_pnl.0, 0);
        let negative = figures(-1).shown();
        assert_eq!((negative.avg_price.0, negative.cash_pnl.0), (-100, 2));
        assert_eq!(negative.percent_pnl.0, -200_000_000);
    }

    #[test]
    fn both_outcomes_are_worth_one() {
        let yes = CurPrice::midpoint(Price(3_333), Price(3_400));
        let value = |price| {
            let figures = PositionFigures {
                lots: 1,
                cost: 0,
                fees: 0,
                bought: 0,
                spent: 0,
                realized: 0,
                price,
            };
            figures.current_half_micros()
        };
        assert_eq!(value(yes), 6_733);
        assert_eq!(value(yes) + value(yes.complement()), 20_000);
    }

    proptest! {
        #[test]
        fn rounding_agrees_with_the_decimals(dividend in -10_i128.pow(24)..10_i128.pow(24), divisor in -1_000_i128..1_000) {
            let expected = Decimal::ratio(dividend, divisor, 0).unwrap_or(Decimal::ZERO);
            prop_assert_eq!(Decimal::new(rounded(dividend, divisor), 0).to_string(), expected.to_string());
        }
    }
}
