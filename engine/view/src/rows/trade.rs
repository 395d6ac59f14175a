//! One fill of a trade: its stored and its returned form. A trade is all fills of one frame; their rows
//! follow each other.

use core::ops::Range;

use foretell_model::codec::{Fixed, Stored, fixed};
use foretell_model::{
    AccountNumber, Fill, FramePosition, KeyNumber, Lots, MarketNumber, MatchKind, Micros, OrderId,
    OrderNumber, Outcome, Price, Sequence, Side, TimeNs, TradeIndex,
};

use crate::rows::builders::{Builder, BuilderSlot};
use crate::rows::order::{Order, own_price};
use crate::rows::trade_id::TradeId;
use crate::rows::trade_slot::TradeSlot;
use crate::storage::row::LogRow;
use crate::storage::slot::Packed;

fixed! {
    /// The stored form of a fill: complete, so that one read suffices. Fields that searches read come
    /// first, so that two cache lines have them all.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) struct Trade {
        /// The id of its trade.
        pub(crate) id: TradeId,
        /// Set when it is listed.
        pub(crate) links: TradeLinks,
        pub(crate) market: MarketNumber,
        pub(crate) kind: MatchKind,
        pub(crate) yes_price: Price,
        pub(crate) lots: Lots,
        /// Index of the fill in its trade.
        pub(crate) index: TradeIndex,
        /// All fills of its trade.
        pub(crate) sum: TradeSum,
        /// The frame: that of the taker's order, or of its release.
        pub(crate) sequence: Sequence,
        pub(crate) time: TimeNs,
        pub(crate) taker: Party,
        pub(crate) maker: Party,
        pub(crate) place: FramePosition,
        pub(crate) fee: Micros,
        /// The previous trade made by the maker's order.
        pub(crate) made_before: Option<TradeSlot>,
    }
}

fixed! {
    /// All fills of a trade, from the side of its taker.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct TradeSum {
        /// Shares.
        pub lots: Lots,
        /// Value at the prices of the taker's token, without fees.
        pub value: Micros,
        /// Fees.
        pub fee: Micros,
    }
}

impl TradeSum {
    /// Sums a frame's fills, whose taker trades this outcome; `None` when the sums are out of range.
    pub(crate) fn of<'a>(outcome: Outcome, fills: impl Iterator<Item = &'a Fill>) -> Option<Self> {
        fills.into_iter().try_fold(Self::default(), |sum, fill| {
            let value = fill.lots.value_at(own_price(outcome, fill.yes_price));
            Some(Self {
                lots: sum.lots.checked_add(fill.lots)?,
                value: sum.value.checked_add(value)?,
                fee: sum.fee.checked_add(fill.fee)?,
            })
        })
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
    pub(crate) const INDEX: usize = Self::LOTS + Lots::SIZE;
    pub(crate) const SUM: usize = Self::INDEX + TradeIndex::SIZE;
    pub(crate) const SEQUENCE: usize = Self::SUM + TradeSum::SIZE;
    pub(crate) const TIME: usize = Self::SEQUENCE + Sequence::SIZE;
    pub(crate) const TAKER: usize = Self::TIME + TimeNs::SIZE;
    pub(crate) const MAKER: usize = Self::TAKER + Party::SIZE;
    pub(crate) const PLACE: usize = Self::MAKER + Party::SIZE;
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

impl Trade {
    /// The slot of the first fill of its trade.
    pub(crate) fn first_slot(&self, slot: TradeSlot) -> TradeSlot {
        TradeSlot(slot.0.saturating_sub(self.index.0.into()))
    }
}

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

/// A fill of a trade as returned to readers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TradeRecord {
    /// The id of its trade.
    pub id: TradeId,
    /// The frame it happened in: that of the taker's order, or of its release.
    pub sequence: Sequence,
    /// Index of the fill in its trade.
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
