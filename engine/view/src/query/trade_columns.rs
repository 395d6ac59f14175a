//! The columns of a trade that the data surface shows, read from the stored bytes in place: a query
//! may read a hundred thousand trades to return ten.

use foretell_model::codec::{Fixed, Stored};
use foretell_model::{AccountNumber, KeyNumber, Lots, MarketNumber, MatchKind, Micros, OrderId};
use foretell_model::{
    FramePosition, OrderNumber, Outcome, Price, Sequence, Side, TimeNs, TradeIndex,
};

use crate::rows::order::own_price;
use crate::rows::trade_id::TradeId;
use crate::rows::trade_slot::TradeSlot;
use crate::view::View;

/// Some columns of a trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TradeColumns {
    /// The frame it happened in.
    pub sequence: Sequence,
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
}

// Offsets of the fields in the bytes of a trade and of a party.
const SEQUENCE: usize = TradeId::SIZE + TradeIndex::SIZE;
const TIME: usize = SEQUENCE + Sequence::SIZE;
const PLACE: usize = TIME + TimeNs::SIZE;
const MARKET: usize = PLACE + FramePosition::SIZE;
const YES_PRICE: usize = MARKET + MarketNumber::SIZE + MatchKind::SIZE;
const LOTS: usize = YES_PRICE + Price::SIZE;
const TAKER: usize = LOTS + Lots::SIZE + Micros::SIZE;
const MAKER: usize = TAKER + crate::rows::trade::Party::SIZE;
const ACCOUNT: usize = OrderNumber::SIZE + OrderId::SIZE;
const OUTCOME: usize = ACCOUNT + AccountNumber::SIZE + KeyNumber::SIZE;
const SIDE: usize = OUTCOME + Outcome::SIZE;

fn at<T: Stored>(bytes: &[u8], place: usize) -> Option<T> {
    T::take(&mut bytes.get(place..)?).ok()
}

fn side(bytes: &[u8], party: usize, yes_price: Price) -> Option<SideColumns> {
    let outcome: Outcome = at(bytes, party + OUTCOME)?;
    Some(SideColumns {
        account: at(bytes, party + ACCOUNT)?,
        outcome,
        side: at(bytes, party + SIDE)?,
        price: own_price(outcome, yes_price),
    })
}

impl View {
    /// Some columns of the trade at a slot; `None` only for a slot of another view.
    #[must_use]
    pub fn trade_columns(&self, slot: TradeSlot) -> Option<TradeColumns> {
        let bytes = self.trades.all.log().bytes(slot.0)?;
        let yes_price = at(bytes, YES_PRICE)?;
        Some(TradeColumns {
            sequence: at(bytes, SEQUENCE)?,
            time: at(bytes, TIME)?,
            place: at(bytes, PLACE)?,
            market: at(bytes, MARKET)?,
            lots: at(bytes, LOTS)?,
            taker: side(bytes, TAKER, yes_price)?,
            maker: side(bytes, MAKER, yes_price)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::trade::{Party, Trade};

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
            index: TradeIndex(3),
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
        let read = |place| at::<u32>(&bytes, place);
        assert_eq!(at(&bytes, SEQUENCE), Some(trade.sequence));
        assert_eq!(at(&bytes, TIME), Some(trade.time));
        assert_eq!(at(&bytes, PLACE), Some(trade.place));
        assert_eq!(read(MARKET), Some(trade.market.0));
        assert_eq!(at(&bytes, LOTS), Some(trade.lots));
        assert_eq!(at(&bytes, TAKER), Some(trade.taker.order));
        for (place, party, price) in [(TAKER, trade.taker, 5_679), (MAKER, trade.maker, 4_321)] {
            let expected = SideColumns {
                account: party.account,
                outcome: party.outcome,
                side: party.side,
                price: Price(price),
            };
            assert_eq!(side(&bytes, place, trade.yes_price), Some(expected));
        }
    }
}
