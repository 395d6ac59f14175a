//! What the exchange refuses, in the words of the interface.

use foretell_model::quantity::PRICE_ONE;
use foretell_model::{
    MarketState, OrderId, Price, Refusal, RefusalReason, Side, Tick, TimeMs, WalletAddress,
};

use crate::decimal::Decimal;
use crate::failure::Failure;

/// What the texts of an order's refusals need to know of the order.
#[derive(Clone, Copy, Debug)]
pub struct RefusedOrder {
    /// Its id.
    pub order: OrderId,
    /// The wallet that trades.
    pub maker: WalletAddress,
    /// Its side.
    pub side: Side,
    /// Signed makerAmount.
    pub maker_amount: u64,
    /// Signed takerAmount.
    pub taker_amount: u64,
    /// Signed timestamp.
    pub timestamp: TimeMs,
}

impl RefusedOrder {
    /// The signed ratio as a price; 0 when an amount is 0.
    fn price(&self) -> Decimal {
        let places = Decimal::MAX_PLACES;
        let (collateral, shares) = self.amounts();
        Decimal::ratio(collateral, shares, places).unwrap_or(Decimal::ZERO)
    }

    /// Whether the price is one from `lowest` to what it leaves of 1.
    fn is_within(&self, lowest: Price) -> bool {
        let (collateral, shares) = self.amounts();
        let at = |price: Price| i128::from(price.0) * shares;
        (at(lowest)..=at(lowest.complement())).contains(&(collateral * i128::from(PRICE_ONE)))
    }

    /// Collateral and shares, in micros.
    fn amounts(&self) -> (i128, i128) {
        let (collateral, shares) = match self.side {
            Side::Buy => (self.maker_amount, self.taker_amount),
            Side::Sell => (self.taker_amount, self.maker_amount),
        };
        (collateral.into(), shares.into())
    }
}

impl Failure {
    /// The refusal of an order for its price.
    fn of_price(of: &RefusedOrder, tick: Tick) -> Self {
        let (order, price) = (of.order, of.price());
        if of.is_within(Price(tick.units())) {
            Self::PriceOffTick { order, price, tick }
        } else {
            Self::PriceOffGrid { order, price, tick }
        }
    }

    /// The refusal of an order, at admission or by the book.
    #[must_use]
    pub fn of_order(refusal: &Refusal, of: &RefusedOrder) -> Self {
        let order = of.order;
        let [first, second] = refusal.details;
        match refusal.reason {
            RefusalReason::UnknownAccount => Self::NoAccount { wallet: of.maker },
            RefusalReason::UnknownMarket => Self::NoOrderbook,
            RefusalReason::UnknownKey => Self::Unauthorized,
            RefusalReason::KeyOfAnotherOwner => Self::SignerNotKeyAddress,
            RefusalReason::AmountZero => Self::OrderAmountZero { order },
            RefusalReason::AmountTooLarge => Self::OrderTooLarge { order },
            RefusalReason::SizeNotLots => Self::SizeNotLots {
                order,
                size: Decimal::micros(i128::from(first)),
            },
            RefusalReason::PriceOffTick => Self::of_price(of, tick_of_units(first)),
            RefusalReason::SizeBelowMinimum => Self::SizeBelowMinimum {
                order,
                size: shares(first),
                minimum: shares(second),
            },
            RefusalReason::MarketableBelowMinimum => Self::MarketableBelowMinimum {
                amount: Decimal::micros(i128::from(first)),
                minimum: Decimal::micros(i128::from(second)),
            },
            RefusalReason::InvalidExpiration => Self::InvalidExpiration,
            RefusalReason::PostOnlyNeedsResting => Self::PostOnlyNeedsResting { order },
            RefusalReason::CrossesBook => Self::CrossesBook { order },
            RefusalReason::FokNotFilled => Self::FokNotFilled,
            RefusalReason::FakNoMatch => Self::FakNoMatch,
            RefusalReason::TooManyLiveOrders => Self::TooManyLiveOrders {
                order,
                live: first,
                cap: second,
            },
            RefusalReason::TooManyOrderIds => Self::TooManyOrderIds {
                order,
                held: first,
                allowed: second,
            },
            RefusalReason::TimestampOutOfWindow => Self::TimestampOutOfWindow {
                given: of.timestamp.0,
                from: first,
                to: second,
            },
            RefusalReason::Duplicate => Self::Duplicated { order },
            RefusalReason::ClosedOnlyAccount => Self::ClosedOnly { wallet: of.maker },
            _ => Self::of_command(refusal),
        }
    }

    /// The refusal of an account action or an operator command.
    #[must_use]
    pub fn of_command(refusal: &Refusal) -> Self {
        let [first, second] = refusal.details;
        match refusal.reason {
            RefusalReason::Busy | RefusalReason::WorkPending => Self::Busy,
            RefusalReason::UnknownAccount => Self::Unknown("account not found"),
            RefusalReason::UnknownMarket => Self::MarketNotFound,
            RefusalReason::UnknownEvent => Self::Unknown("event not found"),
            RefusalReason::UnknownKey => Self::Unknown("api key not found"),
            RefusalReason::MarketNotReady => Self::MarketNotReady,
            RefusalReason::MarketPaused => Self::ConditionPaused,
            RefusalReason::MarketClosed => Self::MarketClosed,
            RefusalReason::SystemPaused => Self::SystemPaused,
            RefusalReason::CancelOnly => Self::CancelOnly,
            RefusalReason::PostOnlyMode => Self::PostOnlyMode,
            RefusalReason::NotEnoughCollateral => Self::NotEnoughBalance {
                needed: Decimal::micros(i128::from(first)),
                available: Decimal::micros(i128::from(second)),
            },
            RefusalReason::NotEnoughShares => Self::NotEnoughBalance {
                needed: shares(first),
                available: shares(second),
            },
            RefusalReason::NonceRevoked => Self::NonceRevoked,
            RefusalReason::TooManyKeys => Self::TooManyKeys,
            RefusalReason::NotAnOwner => Self::NotAnOwner,
            RefusalReason::OrderNotFound => Self::OrderNotFound,
            reason => match conflict(reason, first) {
                Some(text) => Self::Conflict(text),
                None => Self::Rejected(rejection(reason, first, second)),
            },
        }
    }
}

/// Why an order was not cancelled, in the words of protocol 9; `None` when the refusal concerns
/// the request and not the order.
#[must_use]
pub const fn not_cancelled_because(reason: RefusalReason) -> Option<&'static str> {
    match reason {
        RefusalReason::OrderNotFound | RefusalReason::UnknownAccount => {
            Some("order can't be found - already canceled or matched")
        }
        RefusalReason::OrderOfAnotherOwner => Some("order belongs to another account"),
        _ => None,
    }
}

fn shares(lots: u64) -> Decimal {
    Decimal::new(i128::from(lots), 2)
}

/// The tick with this many price units a step; the finest when there is none (no core says so).
fn tick_of_units(units: u64) -> Tick {
    [Tick::Tenth, Tick::Hundredth, Tick::Thousandth]
        .into_iter()
        .find(|tick| u64::from(tick.units()) == units)
        .unwrap_or(Tick::TenThousandth)
}

/// The word of protocol 5 for a market's state.
#[must_use]
pub const fn state_word(state: MarketState) -> &'static str {
    match state {
        MarketState::Registered => "registered",
        MarketState::Active => "active",
        MarketState::Paused => "paused",
        MarketState::Closed => "closed",
        MarketState::Resolved => "resolved",
    }
}

/// Refusals by what is already there: 409.
fn conflict(reason: RefusalReason, first: u64) -> Option<String> {
    let text = match reason {
        RefusalReason::ReferenceReused => "reference was used with other content",
        RefusalReason::WalletNotBindable => {
            "wallet cannot be bound: it is bound, or owns wallets or keys"
        }
        RefusalReason::WalletHasLiveOrders => "wallet has live orders, allowed: none",
        RefusalReason::WalletKindTaken => {
            "the owner has a wallet of this kind, allowed: one of each"
        }
        RefusalReason::WalletNotBound => "wallet is not bound",
        RefusalReason::KeyTaken => "the api key or its nonce belongs to another key",
        RefusalReason::MarketDiffers => "another market is registered under this condition_id",
        RefusalReason::TokenTaken => "a token is in use, or both tokens are the same",
        RefusalReason::EventFrozen => "the event's question list is frozen",
        RefusalReason::EventFull => "the event has 128 questions, allowed: 128",
        RefusalReason::BookNotEmpty => "the market still has orders, retry when they are cancelled",
        RefusalReason::SecondYes => "another question of the event resolved Yes",
        RefusalReason::NoWouldLeaveNone => "this No would leave the event without a Yes",
        RefusalReason::DomainDiffers => "another domain is registered under this number",
        RefusalReason::NotResolved => "market is not resolved",
        RefusalReason::NothingToRedeem => "nothing to redeem",
        RefusalReason::EventNotActive => "a question of the event is not active",
        RefusalReason::OrderOfAnotherOwner => "order belongs to another account",
        RefusalReason::InvalidTransition => {
            let state = u8::try_from(first).ok().and_then(MarketState::from_code);
            return Some(format!(
                "the market's state does not allow this, it is: {}",
                state.map_or("unknown", state_word)
            ));
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// Refusals by content: 400.
fn rejection(reason: RefusalReason, first: u64, second: u64) -> String {
    let text = match reason {
        RefusalReason::AmountZero => "amount is 0, allowed: above 0",
        RefusalReason::AmountTooLarge => "amount is above the largest: 1000000000",
        RefusalReason::BalanceLimit => {
            return format!(
                "amount is {}, allowed: all deposits less withdrawals up to {}",
                Decimal::micros(i128::from(first)),
                Decimal::micros(i128::from(second))
            );
        }
        RefusalReason::TooManyReferences => {
            return format!(
                "the account has {first} actions remembered, allowed: {second}, retry in 90 s"
            );
        }
        RefusalReason::HalfInNegRisk => "payout is half, allowed in plain markets only",
        RefusalReason::InvalidTick => {
            let tick = u8::try_from(first).ok().and_then(Tick::from_code);
            return format!(
                "tick_size is not allowed: finer than {} only",
                tick.map_or("the market's", Tick::text)
            );
        }
        RefusalReason::InvalidFee => "fee is not allowed: rate_ppm 0 to 1000000, exponent 0 to 2",
        RefusalReason::InvalidMinimumSize => {
            "minimum_order_size is not allowed: 0.01 to 1000000000"
        }
        RefusalReason::InvalidQuestions => {
            "indexSet names a question that is not there, allowed: one bit or more, each of a question of the event"
        }
        RefusalReason::InvalidSettings => "the settings break their bounds",
        RefusalReason::UnknownRules => {
            "rules is not allowed: a number this build knows, not below the one in force"
        }
        RefusalReason::ClosedOnlyAccount => "the account is in closed only mode",
        RefusalReason::KeyOfAnotherOwner => "the wallet belongs to another owner",
        other => return format!("refused: {other:?}"),
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn order() -> RefusedOrder {
        RefusedOrder {
            order: OrderId([0xab; 32]),
            maker: WalletAddress([0x11; 20]),
            side: Side::Buy,
            maker_amount: 4_560_000,
            taker_amount: 10_000_000,
            timestamp: TimeMs(1_710_000_000_000),
        }
    }

    /// Every digit, so that none looks as if it stood on the grid, and the range where that is what is wrong.
    #[rstest]
    #[case(
        1_000_001,
        10_000_000,
        "Price (0.1000001) breaks minimum tick size rule: 0.01"
    )]
    #[case(
        9_900_000,
        10_000_000,
        "Price (0.99) breaks minimum tick size rule: 0.01"
    )]
    #[case(
        10_000_000,
        10_000_000,
        "Price (1) breaks minimum tick size rule: 0.01, allowed: 0.01 to 0.99"
    )]
    #[case(
        9_900_001,
        10_000_000,
        "Price (0.9900001) breaks minimum tick size rule: 0.01, allowed: 0.01 to 0.99"
    )]
    #[case(
        99_999,
        10_000_000,
        "Price (0.0099999) breaks minimum tick size rule: 0.01, allowed: 0.01 to 0.99"
    )]
    #[case(
        u64::MAX,
        1,
        "Price (18446744073709551615) breaks minimum tick size rule: 0.01, allowed: 0.01 to 0.99"
    )]
    fn a_price_that_is_none_is_told_in_full(
        #[case] maker_amount: u64,
        #[case] taker_amount: u64,
        #[case] text: &str,
    ) {
        let refusal = Refusal::with(RefusalReason::PriceOffTick, 100, 0);
        let order = RefusedOrder {
            maker_amount,
            taker_amount,
            ..order()
        };
        let failure = Failure::of_order(&refusal, &order);
        assert!(failure.text().ends_with(text), "{failure}");
    }

    #[rstest]
    #[case(
        Refusal::with(RefusalReason::PriceOffTick, 100, 0),
        "Price (0.456) breaks minimum tick size rule: 0.01"
    )]
    #[case(
        Refusal::with(RefusalReason::SizeNotLots, 5_001_000, 0),
        "Size (5.001) has more than two decimals"
    )]
    #[case(
        Refusal::with(RefusalReason::SizeBelowMinimum, 499, 500),
        "Size (4.99) lower than the minimum: 5"
    )]
    #[case(
        Refusal::with(RefusalReason::NotEnoughCollateral, 10_263_980, 3_000_000),
        "needed 10.26398, available 3"
    )]
    #[case(
        Refusal::with(RefusalReason::NotEnoughShares, 250, 1),
        "needed 2.5, available 0.01"
    )]
    #[case(
        Refusal::with(RefusalReason::MarketableBelowMinimum, 500_000, 1_000_000),
        "($0.5), min size: $1"
    )]
    #[case(
        Refusal::with(RefusalReason::TimestampOutOfWindow, 5, 6),
        "invalid order timestamp: 1710000000000, allowed 5..6"
    )]
    #[case(
        Refusal::with(RefusalReason::TooManyLiveOrders, 4_096, 4_096),
        "has 4096 live orders, allowed: 4096"
    )]
    #[case(RefusalReason::ClosedOnlyAccount.into(), "'0x1111111111111111111111111111111111111111' address in closed only mode")]
    #[case(RefusalReason::Duplicate.into(), "is invalid. Duplicated.")]
    fn the_text_carries_the_numbers_of_the_refusal(#[case] refusal: Refusal, #[case] part: &str) {
        let text = Failure::of_order(&refusal, &order()).text();
        assert!(text.contains(part), "{text}");
    }

    #[rstest]
    #[case(RefusalReason::MarketPaused, 409)]
    #[case(RefusalReason::SystemPaused, 409)]
    #[case(RefusalReason::CancelOnly, 503)]
    #[case(RefusalReason::PostOnlyMode, 503)]
    #[case(RefusalReason::Busy, 503)]
    #[case(RefusalReason::FokNotFilled, 400)]
    #[case(RefusalReason::MarketClosed, 400)]
    #[case(RefusalReason::UnknownKey, 401)]
    fn a_refused_order_has_the_status_of_protocol_9(
        #[case] reason: RefusalReason,
        #[case] status: u16,
    ) {
        assert_eq!(Failure::of_order(&reason.into(), &order()).status(), status);
    }

    #[rstest]
    #[case(RefusalReason::ReferenceReused, 409)]
    #[case(RefusalReason::MarketDiffers, 409)]
    #[case(RefusalReason::UnknownMarket, 404)]
    #[case(RefusalReason::UnknownEvent, 404)]
    #[case(RefusalReason::InvalidFee, 400)]
    #[case(RefusalReason::WorkPending, 503)]
    fn a_refused_command_is_a_conflict_or_bad_input(
        #[case] reason: RefusalReason,
        #[case] status: u16,
    ) {
        assert_eq!(Failure::of_command(&reason.into()).status(), status);
    }

    #[test]
    fn no_reason_is_an_internal_error_or_without_text() {
        for reason in RefusalReason::ALL {
            for failure in [
                Failure::of_order(&(*reason).into(), &order()),
                Failure::of_command(&(*reason).into()),
            ] {
                assert!(!failure.text().is_empty());
                assert_ne!(failure.status(), 500, "{reason:?}");
            }
        }
    }

    #[test]
    fn a_price_without_shares_is_shown_as_0() {
        let of = RefusedOrder {
            taker_amount: 0,
            ..order()
        };
        assert_eq!(of.price(), Decimal::ZERO);
        let sell = RefusedOrder {
            side: Side::Sell,
            ..order()
        };
        assert_eq!(sell.price().to_string(), "2.192982456140350877");
    }
}
