//! One trade: what is stored of it, and what is shown.

use foretell_model::{
    AccountNumber, FramePlace, KeyNumber, Lots, MarketNumber, MatchKind, Micros, OrderId,
    OrderNumber, Outcome, Price, Sequence, Side, TimeNs, TradeIndex,
};

use crate::builders::{Builder, BuilderSlot};
use crate::order::Order;
use crate::row::{Fixed, Row, Stored, fixed};
use crate::slot::Packed;
use crate::trade_id::TradeId;

/// Place of a trade in the list of all trades, oldest first. Good for this view only: it is no
/// name to hand out ([`TradeRecord::id`] is).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TradeSlot(pub(crate) u64);

impl Stored for TradeSlot {
    fn put(&self, out: &mut Vec<u8>) {
        Packed::of(self.0).put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Packed::take(from).map(|slot| Self(slot.slot()))
    }
}

impl Fixed for TradeSlot {
    const SIZE: usize = Packed::SIZE;
}

/// What is stored of a trade: all of it, so that it is read at one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Trade {
    pub(crate) id: TradeId,
    pub(crate) index: TradeIndex,
    pub(crate) time: TimeNs,
    pub(crate) place: FramePlace,
    pub(crate) market: MarketNumber,
    pub(crate) kind: MatchKind,
    pub(crate) yes_price: Price,
    pub(crate) lots: Lots,
    pub(crate) fee: Micros,
    /// Its order's number is also the sequence of the frame.
    pub(crate) taker: Party,
    pub(crate) maker: Party,
    /// The trade the maker's order made before this one.
    pub(crate) made_before: Option<TradeSlot>,
}

/// What is stored of one side of a trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Party {
    pub(crate) order: OrderNumber,
    pub(crate) order_id: OrderId,
    pub(crate) account: AccountNumber,
    pub(crate) key: KeyNumber,
    pub(crate) outcome: Outcome,
    pub(crate) side: Side,
    pub(crate) builder: Option<BuilderSlot>,
}

fixed!(Trade {
    id: TradeId,
    index: TradeIndex,
    time: TimeNs,
    place: FramePlace,
    market: MarketNumber,
    kind: MatchKind,
    yes_price: Price,
    lots: Lots,
    fee: Micros,
    taker: Party,
    maker: Party,
    made_before: Option<TradeSlot>,
});
fixed!(Party {
    order: OrderNumber,
    order_id: OrderId,
    account: AccountNumber,
    key: KeyNumber,
    outcome: Outcome,
    side: Side,
    builder: Option<BuilderSlot>,
});

impl Row for Trade {
    const CHUNK_BITS: u32 = 14;
    const NAME: usize = TradeId::SIZE;
}

impl Party {
    /// The side of a trade that this order takes.
    pub(crate) fn of(order: &Order) -> Self {
        Self {
            order: order.number,
            order_id: order.id,
            account: order.account,
            key: order.key,
            outcome: order.outcome,
            side: order.side,
            builder: order.builder,
        }
    }
}

/// One side of a trade.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TradeSide {
    /// Its order's number.
    pub order: OrderNumber,
    /// Its order's id.
    pub order_id: OrderId,
    /// Its wallet.
    pub account: AccountNumber,
    /// The key its order came with.
    pub key: KeyNumber,
    /// The token it traded.
    pub outcome: Outcome,
    /// Bought or sold.
    pub side: Side,
    /// The price of that token.
    pub price: Price,
    /// The builder its order carries.
    pub builder: Option<Builder>,
}

/// A trade as it is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TradeRecord {
    /// Its name.
    pub id: TradeId,
    /// The frame it happened in; also the number of the taker's order.
    pub sequence: Sequence,
    /// Which fill of the frame it is.
    pub index: TradeIndex,
    /// When.
    pub time: TimeNs,
    /// Where that frame stands: its bytes are the trade's receipt.
    pub place: FramePlace,
    /// In which market.
    pub market: MarketNumber,
    /// How the two met.
    pub kind: MatchKind,
    /// Shares traded.
    pub lots: Lots,
    /// Paid by the taker beside the value (BUY) or out of it (SELL).
    pub fee: Micros,
    /// Who came.
    pub taker: TradeSide,
    /// Who was there.
    pub maker: TradeSide,
}

impl TradeRecord {
    /// What the taker paid or got for the shares, without the fee.
    #[must_use]
    pub fn taker_value(&self) -> Micros {
        self.lots.value_at(self.taker.price)
    }

    /// What the maker paid or got for the shares.
    #[must_use]
    pub fn maker_value(&self) -> Micros {
        self.lots.value_at(self.maker.price)
    }
}
