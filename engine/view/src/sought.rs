//! Which rows of trades are looked for.

use foretell_model::{Lots, MarketNumber, Micros, Side};

use crate::trade_rows::{Role, Row, TradeRows};

/// What is looked for.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Sought<'a> {
    /// Only takers' rows.
    pub taker_only: bool,
    /// The side of the row's owner; `None` = either.
    pub side: Option<Side>,
    /// The least shares, in lots.
    pub lots: Lots,
    /// The least value at the price of the row's owner.
    pub value: Micros,
    /// Only in these markets, in rising order; `None` = any.
    pub markets: Option<&'a [MarketNumber]>,
}

impl Sought<'_> {
    /// Whether such rows may be meant, whatever else they are.
    pub(crate) fn wants(&self, role: Role, side: Side) -> bool {
        (role == Role::Taker || !self.taker_only) && self.side.is_none_or(|wanted| wanted == side)
    }

    /// Whether nothing but role and side decides.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.lots.is_zero() && self.value == Micros::ZERO && self.markets.is_none()
    }

    /// Whether a taker's and a maker's row of a trade are meant; `None` when neither is.
    pub(crate) fn of(&self, trade: &TradeRows) -> Option<[bool; 2]> {
        let is_there = trade.lots() >= self.lots
            && (self.markets).is_none_or(|markets| markets.binary_search(&trade.market()).is_ok());
        if !is_there {
            return None;
        }
        let mut meant = [false; 2];
        for row in trade.rows() {
            meant[row.role as usize] = self.is_row(trade, &row);
        }
        (meant != [false; 2]).then_some(meant)
    }

    fn is_row(&self, trade: &TradeRows, row: &Row) -> bool {
        self.wants(row.role, row.side)
            && (self.value == Micros::ZERO || trade.value(row) >= self.value)
    }
}
