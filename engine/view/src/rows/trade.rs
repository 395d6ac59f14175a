//! One trade: its stored and its returned form.

use core::ops::Range;

use foretell_model::codec::{Fixed, Stored, fixed};
use foretell_model::{
    AccountNumber, FramePosition, KeyNumber, Lots, MarketNumber, MatchKind, Micros, OrderId,
    OrderNumber, Outcome, Price, Sequence, Side, TimeNs, TradeIndex,
};

use crate::rows::builders::{Builder, BuilderSlot};
use crate::rows::order::Order;
use crate::rows::trade_id::TradeId;
use crate::rows::trade_slot::TradeSlot;
use crate::storage::row::LogRow;
use crate::storage::slot::Packed;

fixed! {
    /// The stored form of a trade: complete, so that one read suffices. Fields that searches read come
    /// first, so that two cache lines have them all.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) struct Trade {
        pub(crate) id: TradeId,
        /// Set when it is listed.
        pub(crate) links: TradeLinks,
        pub(crate) market: MarketNumber,
        pub(crate) kind: MatchKind,
        pub(crate) yes_price: Price,
        pub(crate) lots: Lots,
        /// The frame: that of the taker's order, or of its release.
        pub(crate) sequence: Sequence,
        pub(crate) time: TimeNs,
        pub(crate) taker: Party,
        pub(crate) maker: Party,
        pub(crate) index: TradeIndex,
        pub(crate) place: FramePosition,
        pub(crate) fee: Micros,
        /// The previous trade made by the maker's order.
        pub(crate) made_before: Option<TradeSlot>,
    }
}

fixed! {
    /// The stored form of one side of a trade.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) struct Party {
        pub(crate) outcome: Outcome,
        pub(crate) side: Side,
        pub(crate) account: AccountNumber,
        pub(crate) key: KeyNumber,
        pub(crate) order: OrderNumber,
        pub(crate) order_id: OrderId,
        pub(crate) builder: Option<BuilderSlot>,
    }
}

/// Offsets of fields in the bytes of a trade.
impl Trade {
    pub(crate) const LINKS: usize = TradeId::SIZE;
    pub(crate) const MARKET: usize = Self::LINKS + TradeLinks::SIZE;
    pub(crate) const KIND: usize = Self::MARKET + MarketNumber::SIZE;
    pub(crate) const YES_PRICE: usize = Self::KIND + MatchKind::SIZE;
    pub(crate) const LOTS: usize = Self::YES_PRICE + Price::SIZE;
    pub(crate) const SEQUENCE: usize = Self::LOTS + Lots::SIZE;
    pub(crate) const TIME: usize = Self::SEQUENCE + Sequence::SIZE;
    pub(crate) const TAKER: usize = Self::TIME + TimeNs::SIZE;
    pub(crate) const MAKER: usize = Self::TAKER + Party::SIZE;
    pub(crate) const INDEX: usize = Self::MAKER + Party::SIZE;
    pub(crate) const PLACE: usize = Self::INDEX + TradeIndex::SIZE;
    pub(crate) const FEE: usize = Self::PLACE + FramePosition::SIZE;
    /// The fields that searches read.
    pub(crate) const SEARCHED: Range<usize> = Self::LINKS..Self::TAKER + Outcome::SIZE + Side::SIZE;

    /// A field in the bytes of a trade.
    pub(crate) fn field<T: Stored>(row: &[u8], offset: usize) -> Option<T> {
        T::take(&mut row.get(offset..)?).ok()
    }
}

/// The last node before this trade in each list that has it ([`crate::rows::trade_nodes`]).
pub(crate) type TradeLinks = [Packed; 6];

impl LogRow for Trade {
    const CHUNK_BITS: u32 = 14;
    const ID_BYTES: usize = TradeId::SIZE;
}

impl Party {
    /// The side of a trade for this order.
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
    /// The API key that submitted its order.
    pub key: KeyNumber,
    /// The token it traded.
    pub outcome: Outcome,
    /// Whether it bought or sold.
    pub side: Side,
    /// The price of that token.
    pub price: Price,
    /// The builder of its order.
    pub builder: Option<Builder>,
}

/// A trade as returned to readers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TradeRecord {
    /// Its id.
    pub id: TradeId,
    /// The frame it happened in: that of the taker's order, or of its release.
    pub sequence: Sequence,
    /// Index of the fill in the frame.
    pub index: TradeIndex,
    /// When it happened.
    pub time: TimeNs,
    /// Place of that frame; its bytes are the trade's receipt.
    pub place: FramePosition,
    /// Its market.
    pub market: MarketNumber,
    /// How the two orders matched.
    pub kind: MatchKind,
    /// Shares traded.
    pub lots: Lots,
    /// Paid by the taker in addition to the value (BUY) or out of it (SELL).
    pub fee: Micros,
    /// The taker's side.
    pub taker: TradeSide,
    /// The maker's side.
    pub maker: TradeSide,
}

impl TradeRecord {
    /// Value paid or received by the taker, without the fee.
    #[must_use]
    pub fn taker_value(&self) -> Micros {
        self.lots.value_at(self.taker.price)
    }

    /// Value paid or received by the maker.
    #[must_use]
    pub fn maker_value(&self) -> Micros {
        self.lots.value_at(self.maker.price)
    }
}
