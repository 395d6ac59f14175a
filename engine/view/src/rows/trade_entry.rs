//! The columns of a fill that lists of fills are filtered by.

use foretell_model::codec::Stored;
use foretell_model::quantity::PRICE_ONE;
use foretell_model::{Lots, MarketNumber, MatchKind, Micros, Outcome, Price, Side, TradeIndex};

use crate::rows::order::own_price;
use crate::rows::trade::{Trade, TradeSum};

/// The rows of a fill in a list: that of its taker, that of its maker, or both. With the taker's row of
/// a trade's first fill comes one of the whole trade, for lists that show trades.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TradeEntry {
    lots: Lots,
    market: MarketNumber,
    /// The sum of its trade, of which it is the first fill.
    sum: Option<TradeSum>,
    /// By role; `None` when the list does not have the row.
    rows: [Option<TradeRow>; 2],
}

/// The largest number of lots whose value at any price is representable.
pub(crate) const MOST_LOTS: Lots = Lots(u64::MAX / PRICE_ONE as u64);

/// The role of a row's owner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Taker,
    Maker,
}

impl Role {
    pub(crate) const ALL: [Self; 2] = [Self::Taker, Self::Maker];
}

/// One row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TradeRow {
    pub(crate) role: Role,
    pub(crate) side: Side,
    /// Price of its owner's token.
    pub(crate) price: Price,
}

impl TradeEntry {
    /// Both rows of a trade.
    pub(crate) fn of(trade: &Trade) -> Self {
        let sides = [&trade.taker, &trade.maker].map(|party| (party.outcome, party.side));
        let sum = (trade.index, trade.sum);
        Self::both(trade.market, trade.lots, sum, trade.yes_price, sides)
    }

    /// Both rows of a trade, from its stored bytes.
    #[inline]
    pub(crate) fn read(trade: &[u8]) -> Option<Self> {
        let mut columns = trade.get(Trade::MARKET..)?;
        let (market, kind) = <(MarketNumber, MatchKind)>::take(&mut columns).ok()?;
        let (yes_price, lots) = Stored::take(&mut columns).ok()?;
        let sum = Stored::take(&mut columns).ok()?;
        let (outcome, side) = Trade::field(trade, Trade::TAKER)?;
        let maker = (kind.maker_outcome(outcome), kind.maker_side(side));
        Some(Self::both(
            market,
            lots,
            sum,
            yes_price,
            [(outcome, side), maker],
        ))
    }

    fn both(
        market: MarketNumber,
        lots: Lots,
        (index, sum): (TradeIndex, TradeSum),
        yes_price: Price,
        [taker, maker]: [(Outcome, Side); 2],
    ) -> Self {
        let row = |role, (outcome, side)| TradeRow {
            role,
            side,
            price: own_price(outcome, yes_price),
        };
        Self {
            lots,
            market,
            sum: (index.0 == 0).then_some(sum),
            rows: [Some(row(Role::Taker, taker)), Some(row(Role::Maker, maker))],
        }
    }

    /// Only the row of this role.
    pub(crate) fn only(self, role: Role) -> Self {
        let rows = self.rows.map(|row| row.filter(|row| row.role == role));
        let sum = self.sum.filter(|_| role == Role::Taker);
        Self { rows, sum, ..self }
    }

    /// Shares traded.
    pub(crate) fn lots(&self) -> Lots {
        self.lots
    }

    /// The market.
    pub(crate) fn market(&self) -> MarketNumber {
        self.market
    }

    /// Value paid or received by the owner of a row.
    pub(crate) fn value(&self, row: &TradeRow) -> Micros {
        self.lots.value_at(row.price)
    }

    /// The side of the taker and the sum of the trade whose first fill this is, if the taker's row is in
    /// this list.
    pub(crate) fn whole(&self) -> Option<(Side, TradeSum)> {
        let [taker, _] = self.rows;
        Some((taker?.side, self.sum?))
    }

    /// The rows in this list.
    pub(crate) fn rows(&self) -> impl Iterator<Item = TradeRow> {
        self.rows.into_iter().flatten()
    }
}

#[cfg(test)]
pub(crate) mod tests;
