//! The filter for rows of fills and trades.

use foretell_model::{Lots, MarketNumber, Micros, Side};

use crate::rows::trade_entry::{Role, TradeEntry, TradeRow};

/// A filter for rows of fills and trades.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct RowFilter<'a> {
    /// Only takers' rows.
    pub taker_only: bool,
    /// A taker has one row a trade, at its first fill, with the sum of its fills; otherwise one a fill.
    pub whole_trades: bool,
    /// The side of the row's owner; `None` = either.
    pub side: Option<Side>,
    /// Minimum lots.
    pub lots: Lots,
    /// Minimum value at the price of the row's owner.
    pub value: Micros,
    /// Only these markets, ascending; `None` = any.
    pub markets: Option<&'a [MarketNumber]>,
}

impl RowFilter<'_> {
    /// Whether role and side match.
    pub(crate) fn matches_kind(&self, role: Role, side: Side) -> bool {
        (role == Role::Taker || !self.taker_only) && self.side.is_none_or(|wanted| wanted == side)
    }

    /// Whether only role and side are filtered.
    #[must_use]
    pub fn is_countable(&self) -> bool {
        self.lots.is_zero() && self.value == Micros::ZERO && self.markets.is_none()
    }

    /// Whether the taker's and the maker's row of a fill match; `None` when neither does.
    pub(crate) fn of(&self, fill: &TradeEntry) -> Option<[bool; 2]> {
        let is_there =
            (self.markets).is_none_or(|markets| markets.binary_search(&fill.market()).is_ok());
        if !is_there {
            return None;
        }
        let mut matches = [false; 2];
        for row in fill.rows() {
            matches[row.role as usize] = match row.role {
                Role::Taker if self.whole_trades => self.is_whole(fill),
                Role::Taker | Role::Maker => self.is_row(fill, &row),
            };
        }
        (matches != [false; 2]).then_some(matches)
    }

    fn is_row(&self, fill: &TradeEntry, row: &TradeRow) -> bool {
        self.matches_kind(row.role, row.side)
            && fill.lots() >= self.lots
            && (self.value == Micros::ZERO || fill.value(row) >= self.value)
    }

    fn is_whole(&self, first: &TradeEntry) -> bool {
        first.whole().is_some_and(|(side, sum)| {
            self.matches_kind(Role::Taker, side) && sum.lots >= self.lots && sum.value >= self.value
        })
    }
}
