//! The filter for rows of trades.

use foretell_model::{Lots, MarketNumber, Micros, Side};

use crate::rows::trade_entry::{Role, TradeEntry, TradeRow};

/// A filter for rows of trades.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct RowFilter<'a> {
    /// Only takers' rows.
    pub taker_only: bool,
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

    /// Whether the taker's and the maker's row of a trade match; `None` when neither does.
    pub(crate) fn of(&self, trade: &TradeEntry) -> Option<[bool; 2]> {
        let is_there = trade.lots() >= self.lots
            && (self.markets).is_none_or(|markets| markets.binary_search(&trade.market()).is_ok());
        if !is_there {
            return None;
        }
        let mut matches = [false; 2];
        for row in trade.rows() {
            matches[row.role as usize] = self.is_row(trade, &row);
        }
        (matches != [false; 2]).then_some(matches)
    }

    fn is_row(&self, trade: &TradeEntry, row: &TradeRow) -> bool {
        self.matches_kind(row.role, row.side)
            && (self.value == Micros::ZERO || trade.value(row) >= self.value)
    }
}
