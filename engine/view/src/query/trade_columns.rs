//! The columns of a fill that the data surface shows, read from the stored bytes in place: a query
//! may read a hundred thousand trades to return ten.

use foretell_model::codec::Stored;
use foretell_model::{
    AccountNumber, FramePosition, Lots, MarketNumber, Micros, Outcome, Price, Sequence, Side,
    TimeNs, TradeIndex,
};

use crate::rows::order::own_price;
use crate::rows::trade::{Trade, TradeSum};
use crate::rows::trade_id::TradeId;
use crate::rows::trade_slot::TradeSlot;
use crate::view::View;

/// Some columns of a fill.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TradeColumns {
    /// The id of its trade.
    pub id: TradeId,
    /// The frame it happened in.
    pub sequence: Sequence,
    /// Index of the fill in its trade.
    pub index: TradeIndex,
    /// All fills of its trade.
    pub sum: TradeSum,
    /// When it happened.
    pub time: TimeNs,
    /// Place of that frame.
    pub place: FramePosition,
    /// Its market.
    pub market: MarketNumber,
    /// Shares traded.
    pub lots: Lots,
    /// The taker's side.
    pub taker: SideColumns,
    /// The maker's side.
    pub maker: SideColumns,
}

/// Some columns of one side of a trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SideColumns {
    /// Its wallet.
    pub account: AccountNumber,
    /// The token it traded.
    pub outcome: Outcome,
    /// Whether it bought or sold.
    pub side: Side,
    /// The price of its token.
    pub price: Price,
    /// The fee it paid: 0 of the maker.
    pub fee: Micros,
}

fn side(row: &[u8], party: usize, yes_price: Price, fee: Micros) -> Option<SideColumns> {
    let mut columns = row.get(party..)?;
    let (outcome, side, account) = <(Outcome, Side, AccountNumber)>::take(&mut columns).ok()?;
    Some(SideColumns {
        account,
        outcome,
        side,
        price: own_price(outcome, yes_price),
        fee,
    })
}

impl TradeColumns {
    /// What a row of one side shows: its fill, or the whole trade.
    #[must_use]
    pub fn amounts(&self, side: &SideColumns, is_whole: bool) -> TradeSum {
        if is_whole {
            return self.sum;
        }
        TradeSum {
            lots: self.lots,
            value: self.lots.value_at(side.price),
            fee: side.fee,
        }
    }

    /// Whether a side is the taker's.
    #[must_use]
    pub fn is_taker(&self, side: &SideColumns) -> bool {
        side.account == self.taker.account
    }
}

impl View {
    /// Some columns of the fill at a slot; `None` only for a slot of another view.
    #[must_use]
    pub fn trade_columns(&self, slot: TradeSlot) -> Option<TradeColumns> {
        let row = self.trades.all.log().bytes(slot.0)?;
        let yes_price = Trade::field(row, Trade::YES_PRICE)?;
        Some(TradeColumns {
            id: TradeId::take(&mut &row[..]).ok()?,
            sequence: Trade::field(row, Trade::SEQUENCE)?,
            index: Trade::field(row, Trade::INDEX)?,
            sum: Trade::field(row, Trade::SUM)?,
            time: Trade::field(row, Trade::TIME)?,
            place: Trade::field(row, Trade::PLACE)?,
            market: Trade::field(row, Trade::MARKET)?,
            lots: Trade::field(row, Trade::LOTS)?,
            taker: side(row, Trade::TAKER, yes_price, Trade::field(row, Trade::FEE)?)?,
            maker: side(row, Trade::MAKER, yes_price, Micros::ZERO)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use foretell_model::codec::Fixed;
    use foretell_model::{KeyNumber, MatchKind, OrderId, OrderNumber};

    use super::*;
    use crate::rows::trade::Party;
    use crate::storage::slot::Packed;

    #[test]
    fn the_fields_stand_where_they_are_read() {
        let party = |mark: u8, outcome, side| Party {
            order: OrderNumber(u64::from(mark) << 40),
            order_id: OrderId([mark; 32]),
            account: AccountNumber(0x0102_0300 + u32::from(mark)),
            key: KeyNumber(7),
            outcome,
            side,
            builder: None,
        };
        let trade = Trade {
            id: TradeId([9; TradeId::SIZE]),
            links: [Packed::of(5); 6],
            index: TradeIndex(3),
            sum: TradeSum {
                lots: Lots(0x11_7755),
                value: Micros(0x22_6644),
                fee: Micros(0x33_5533),
            },
            sequence: Sequence(0x99_8877),
            time: TimeNs(0x1122_3344_5566),
            place: FramePosition {
                segment: 1,
                offset: 2,
                length: 3,
            },
            market: MarketNumber(0x0A0B_0C0D),
            kind: MatchKind::Mint,
            yes_price: Price(4_321),
            lots: Lots(0x77_6655),
            fee: Micros(u64::MAX),
            taker: party(1, Outcome::No, Side::Buy),
            maker: party(2, Outcome::Yes, Side::Sell),
            made_before: None,
        };
        let mut bytes = Vec::new();
        trade.put(&mut bytes);
        assert_eq!(Trade::field(&bytes, Trade::LINKS), Some(trade.links));
        assert_eq!(Trade::field(&bytes, Trade::SEQUENCE), Some(trade.sequence));
        assert_eq!(Trade::field(&bytes, Trade::TIME), Some(trade.time));
        assert_eq!(Trade::field(&bytes, Trade::INDEX), Some(trade.index));
        assert_eq!(Trade::field(&bytes, Trade::SUM), Some(trade.sum));
        assert_eq!(Trade::field(&bytes, Trade::PLACE), Some(trade.place));
        assert_eq!(Trade::field(&bytes, Trade::FEE), Some(trade.fee));
        assert_eq!(Trade::field(&bytes, Trade::MARKET), Some(trade.market));
        assert_eq!(Trade::field(&bytes, Trade::KIND), Some(trade.kind));
        assert_eq!(Trade::field(&bytes, Trade::LOTS), Some(trade.lots));
        let (taker, maker) = (Trade::TAKER, Trade::MAKER);
        for (place, party, price) in [(taker, trade.taker, 5_679), (maker, trade.maker, 4_321)] {
            let expected = SideColumns {
                account: party.account,
                outcome: party.outcome,
                side: party.side,
                price: Price(price),
                fee: trade.fee,
            };
            let read = side(&bytes, place, trade.yes_price, trade.fee);
            assert_eq!(read, Some(expected));
        }
    }
}
