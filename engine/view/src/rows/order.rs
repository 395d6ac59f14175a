//! One order: signed values, state, and the status text of docs/api/market-data.md §6.

use foretell_model::codec::{CodecError, Fixed, Stored, fixed};
use foretell_model::quantity::{MICROS_PER_LOT, PRICE_ONE};
use foretell_model::{
    AccountNumber, CloseReason, FramePosition, KeyNumber, Lots, MarketNumber, Micros, OrderId,
    OrderNumber, OrderType, Outcome, PlaceOrder, Price, RejectionReason, Sequence, Side, Tick,
    TimeNs, TimeSeconds, WalletKind,
};

use crate::rows::builders::BuilderSlot;
use crate::rows::trade_slot::TradeSlot;

/// The state of an order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrderState {
    /// It rests.
    Live,
    /// It waits out the delay of its market (docs/verify/rules.md §22).
    Delayed,
    /// It is fully filled; for a budget BUY, its budget is spent.
    Completed,
    /// It ended with an unfilled remainder.
    Closed(CloseReason),
    /// The book rejected it.
    Killed(RejectionReason),
}

/// The status shown to users (docs/api/market-data.md §6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UserStatus {
    /// LIVE: it rests.
    Live,
    /// DELAYED: it waits out the delay of its market.
    Delayed,
    /// MATCHED: fully filled.
    Matched,
    /// CANCELED: ended by its user, expiry, heartbeat, self-trade, or as a taker's remainder.
    Canceled,
    /// CANCELED_MARKET_RESOLVED: its market closed.
    CanceledMarketResolved,
    /// UNMATCHED: killed, at once or after its delay.
    Unmatched,
}

impl OrderState {
    /// The status shown to users.
    #[must_use]
    pub fn user_status(self) -> UserStatus {
        match self {
            Self::Live => UserStatus::Live,
            Self::Delayed => UserStatus::Delayed,
            Self::Completed => UserStatus::Matched,
            Self::Closed(CloseReason::MarketClosed) => UserStatus::CanceledMarketResolved,
            Self::Closed(CloseReason::FokNotFilled) | Self::Killed(_) => UserStatus::Unmatched,
            Self::Closed(_) => UserStatus::Canceled,
        }
    }
}

fixed! {
    /// One order, live or finished.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub struct Order {
        /// EIP-712 hash.
        pub id: OrderId,
        /// Sequence of the frame that placed it.
        pub number: OrderNumber,
        /// The trading wallet.
        pub account: AccountNumber,
        /// The API key that submitted it.
        pub key: KeyNumber,
        /// Its market.
        pub market: MarketNumber,
        /// Its token.
        pub outcome: Outcome,
        /// Its side in its token.
        pub side: Side,
        /// Its time in force.
        pub order_type: OrderType,
        /// Rejected if it would cross.
        pub post_only: bool,
        /// Its signature type: the wallet kind of its account.
        pub signature_type: WalletKind,
        /// Limit in its own token, from the signed amounts.
        pub price: Price,
        /// Its state.
        pub state: OrderState,
        /// The signed share amount in micro-shares, less what its owner took off.
        pub size: u64,
        /// For GTD only; 0 otherwise.
        pub expiration: TimeSeconds,
        /// Remaining lots of a live order, all lots of a delayed one; unfilled lots of a closed one (0
        /// for a budget BUY); 0 for a completed or killed one.
        pub left: Lots,
        /// Shares traded, as taker and as maker.
        pub matched: Lots,
        /// Value of those trades at this order's own prices, without fees.
        pub value: Micros,
        /// Fees paid as taker.
        pub fee: Micros,
        /// The frame that put it into its queue: its own, or that of its release; 0 before.
        pub arrival: Sequence,
        /// When it was placed.
        pub created: TimeNs,
        /// When it last traded or ended.
        pub updated: TimeNs,
        /// Place of the frame that placed it.
        pub place: FramePosition,
        pub(crate) builder: Option<BuilderSlot>,
        /// First of the `taken` consecutive trades in which it was the taker.
        pub(crate) first_taken: TradeSlot,
        pub(crate) taken: u32,
        /// Its newest trade as maker; each such trade refers to the previous one.
        pub(crate) last_made: Option<TradeSlot>,
    }
}

impl Order {
    /// A BUY that spends its makerAmount (FOK, FAK); its takerAmount only sets the price.
    #[must_use]
    pub fn is_budget_buy(&self) -> bool {
        self.side == Side::Buy && !self.order_type.may_rest()
    }

    /// Its size in micro-shares; for a budget BUY the matched amount if larger.
    #[must_use]
    pub fn original_size(&self) -> u64 {
        if self.is_budget_buy() {
            self.size.max(self.matched.micro_shares())
        } else {
            self.size
        }
    }

    /// Whether it rests, or waits out the delay of its market.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self.state, OrderState::Live | OrderState::Delayed)
    }
}

/// The state, then the code of its reason; 0 for no reason.
impl Stored for OrderState {
    fn put(&self, out: &mut Vec<u8>) {
        let (state, reason): (u8, u8) = match *self {
            Self::Live => (0, 0),
            Self::Completed => (1, 0),
            Self::Closed(reason) => (2, reason.code()),
            Self::Killed(reason) => (3, reason.code()),
            Self::Delayed => (4, 0),
        };
        (state, reason).put(out);
    }

    fn take(from: &mut &[u8]) -> Result<Self, CodecError> {
        match <(u8, u8)>::take(from)? {
            (0, 0) => Some(Self::Live),
            (1, 0) => Some(Self::Completed),
            (2, reason) => CloseReason::from_code(reason).map(Self::Closed),
            (3, reason) => RejectionReason::from_code(reason).map(Self::Killed),
            (4, 0) => Some(Self::Delayed),
            _ => None,
        }
        .ok_or(CodecError::Inconsistent("state of an order"))
    }
}

impl Fixed for OrderState {
    const SIZE: usize = <(u8, u8)>::SIZE;
}

/// Converts a Yes price to the price of an outcome's token.
pub(crate) fn own_price(outcome: Outcome, yes_price: Price) -> Price {
    match outcome {
        Outcome::Yes => yes_price,
        Outcome::No => yes_price.complement(),
    }
}

/// The limit price of an accepted order in its own token. Exact for GTC and GTD. For FOK and FAK
/// the signed ratio is rounded to the tick in the signer's favour: a BUY down, a SELL up
/// (docs/verify/rules.md §3). `None` when the amounts give no price.
pub(crate) fn limit_price(order: &PlaceOrder, tick: Tick) -> Option<Price> {
    let (collateral, shares) = match order.side {
        Side::Buy => (order.maker_amount, order.taker_amount),
        Side::Sell => (order.taker_amount, order.maker_amount),
    };
    let scaled = u128::from(collateral) * u128::from(MICROS_PER_LOT);
    let shares = u128::from(shares);
    if shares == 0 {
        return None;
    }
    let step = if order.order_type.may_rest() {
        1
    } else {
        u128::from(tick.units())
    };
    let price = match order.side {
        Side::Buy => scaled / (shares * step) * step,
        Side::Sell => scaled.div_ceil(shares * step) * step,
    };
    let price = u16::try_from(price).ok()?;
    (price > 0 && price < PRICE_ONE).then_some(Price(price))
}

#[cfg(test)]
mod tests {
    use foretell_fixtures::trader;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::exact_buy(
        OrderType::Gtc,
        Side::Buy,
        6_200_000,
        10_000_000,
        Tick::Hundredth,
        Some(6_200)
    )]
    #[case::exact_sell(
        OrderType::Gtd,
        Side::Sell,
        10_000_000,
        6_200_000,
        Tick::Hundredth,
        Some(6_200)
    )]
    #[case::budget_rounds_down(
        OrderType::Fak,
        Side::Buy,
        10_000_000,
        29_000_000,
        Tick::Hundredth,
        Some(3_400)
    )]
    #[case::budget_on_tick(
        OrderType::Fok,
        Side::Buy,
        3_400_000,
        10_000_000,
        Tick::Hundredth,
        Some(3_400)
    )]
    #[case::sell_rounds_up(
        OrderType::Fak,
        Side::Sell,
        29_000_000,
        10_000_000,
        Tick::Hundredth,
        Some(3_500)
    )]
    #[case::sell_on_tick(
        OrderType::Fok,
        Side::Sell,
        10_000_000,
        3_400_000,
        Tick::Hundredth,
        Some(3_400)
    )]
    #[case::finer_tick(
        OrderType::Fak,
        Side::Sell,
        29_000_000,
        10_000_000,
        Tick::TenThousandth,
        Some(3_449)
    )]
    #[case::rounds_to_nothing(OrderType::Fak, Side::Buy, 1, 29_000_000, Tick::Hundredth, None)]
    #[case::rounds_to_one(OrderType::Fak, Side::Sell, 10_000, 9_999, Tick::Hundredth, None)]
    #[case::no_shares(OrderType::Fak, Side::Buy, 1, 0, Tick::Hundredth, None)]
    #[case::largest(OrderType::Gtc, Side::Buy, u64::MAX, u64::MAX, Tick::Hundredth, None)]
    fn limits_come_from_the_signed_amounts(
        #[case] order_type: OrderType,
        #[case] side: Side,
        #[case] maker_amount: u64,
        #[case] taker_amount: u64,
        #[case] tick: Tick,
        #[case] price: Option<u16>,
    ) {
        let order = PlaceOrder {
            order_type,
            maker_amount,
            taker_amount,
            ..trader(0).order(side, 1).terms()
        };
        assert_eq!(limit_price(&order, tick), price.map(Price));
    }
}
