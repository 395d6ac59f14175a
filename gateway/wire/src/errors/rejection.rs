//! Translates the core's rejections to errors of the interface.

use foretell_model::quantity::PRICE_ONE;
use foretell_model::{
    MarketState, OperatorRole, OrderId, OrderType, Price, Rejection, RejectionReason, Side, Tick,
    TimeMs, WalletAddress,
};

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::text::decimal::Decimal;
use crate::text::time::iso_millis;
use crate::text::words::{role_word, state_word};

/// The fields of an order that its rejection texts use.
#[derive(Clone, Copy, Debug)]
pub struct RejectedOrder {
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
    /// Its type.
    pub order_type: OrderType,
}

impl RejectedOrder {
    /// The signed ratio as a price; 0 when an amount is 0.
    fn price(&self) -> Decimal {
        let places = Decimal::MAX_PLACES;
        let (collateral, shares) = self.amounts();
        Decimal::ratio(collateral, shares, places).unwrap_or(Decimal::ZERO)
    }

    /// Whether the book killed the order, in contrast to a rejection before the book
    /// (docs/verify/rules.md).
    #[must_use]
    pub fn is_killed_by_book(&self, reason: RejectionReason) -> bool {
        use RejectionReason as Reason;
        match reason {
            Reason::CrossesBook | Reason::FokNotFilled | Reason::FakNoMatch => true,
            Reason::MarketableBelowMinimum => {
                matches!(self.order_type, OrderType::Gtc | OrderType::Gtd)
            }
            _ => false,
        }
    }

    /// Whether the price is in `[lowest, 1 - lowest]`.
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

impl ErrorCode {
    /// The code of an order's rejection.
    #[must_use]
    pub const fn of_order(reason: RejectionReason) -> Self {
        match reason {
            RejectionReason::UnknownAccount => Self::NoAccount,
            RejectionReason::UnknownMarket => Self::OrderbookNotFound,
            RejectionReason::UnknownKey => Self::Unauthorized,
            RejectionReason::KeyOfAnotherOwner => Self::SignerNotKeyAddress,
            RejectionReason::AmountZero => Self::InvalidAmount,
            RejectionReason::AmountTooLarge => Self::OrderTooLarge,
            reason => Self::of(reason),
        }
    }
}

impl ApiError {
    /// The error for a wrong price.
    fn wrong_price(of: &RejectedOrder, tick: Tick) -> Self {
        let (order, price, lowest) = (of.order, of.price(), tick.text());
        if of.is_within(Price(tick.units())) {
            return ErrorCode::PriceOffTick.with([&order, &price, &lowest]);
        }
        let highest = Decimal::from(Price(tick.units()).complement());
        ErrorCode::PriceOutOfRange.with([&order, &price, &lowest, &lowest, &highest])
    }

    /// The error for an order rejected at admission or by the book.
    #[must_use]
    pub fn from_order_rejection(refusal: &Rejection, of: &RejectedOrder) -> Self {
        let order = || of.order.to_string();
        let [first, second] = refusal.details;
        let values = match refusal.reason {
            RejectionReason::PriceOffTick => return Self::wrong_price(of, tick_of_units(first)),
            RejectionReason::UnknownAccount | RejectionReason::ClosedOnlyAccount => {
                vec![of.maker.to_string()]
            }
            RejectionReason::AmountZero
            | RejectionReason::AmountTooLarge
            | RejectionReason::PostOnlyNeedsResting
            | RejectionReason::Duplicate => vec![order()],
            RejectionReason::SizeNotLots => vec![order(), micros(first).to_string()],
            RejectionReason::SizeBelowMinimum => {
                vec![
                    order(),
                    shares(first).to_string(),
                    shares(second).to_string(),
                ]
            }
            RejectionReason::MarketableBelowMinimum => {
                vec![micros(first).to_string(), micros(second).to_string()]
            }
            RejectionReason::TooManyLiveOrders | RejectionReason::TooManyOrderIds => {
                vec![order(), first.to_string(), second.to_string()]
            }
            RejectionReason::TimestampOutOfWindow => [of.timestamp.0, first, second]
                .map(|ms| ms.to_string())
                .into(),
            RejectionReason::UnknownMarket
            | RejectionReason::UnknownKey
            | RejectionReason::KeyOfAnotherOwner => Vec::new(),
            reason => values(reason, first, second),
        };
        Self::new(ErrorCode::of_order(refusal.reason), values)
    }

    /// Names a wrong clock of the exchange, as `difference` says it, in the error of an order that was judged by it.
    #[must_use]
    pub fn naming_clock(self, difference: impl FnOnce() -> Option<String>) -> Self {
        let is_of_time = self.code() == ErrorCode::TimestampOutOfWindow;
        match is_of_time.then(difference).flatten() {
            None => self,
            Some(difference) => {
                let values = [self.values(), &[difference]].concat();
                Self::new(ErrorCode::ExchangeClock, values)
            }
        }
    }

    /// The error for a rejected account action or operator command.
    #[must_use]
    pub fn from_command_rejection(refusal: &Rejection) -> Self {
        let [first, second] = refusal.details;
        let reason = refusal.reason;
        Self::new(ErrorCode::of(reason), values(reason, first, second))
    }
}

/// The reason why a delayed order was not cancelled (docs/verify/rules.md §22).
pub const ORDER_IS_DELAYED: &str = "order is delayed";

/// The reason why an order was not cancelled, in the words of docs/api/orders.md §4; `None` when
/// the rejection concerns the whole request and not the order.
#[must_use]
pub const fn not_cancelled_reason(reason: RejectionReason) -> Option<&'static str> {
    match reason {
        RejectionReason::OrderNotFound | RejectionReason::UnknownAccount => {
            Some("order can't be found - already canceled or matched")
        }
        RejectionReason::OrderOfAnotherOwner => Some("order belongs to another account"),
        _ => None,
    }
}

fn micros(amount: u64) -> Decimal {
    Decimal::micros(i128::from(amount))
}

fn shares(lots: u64) -> Decimal {
    Decimal::new(i128::from(lots), 2)
}

/// The tick of this many price units; the finest tick for other values, which the core never sends.
fn tick_of_units(units: u64) -> Tick {
    let tick = Tick::ALL
        .iter()
        .find(|tick| u64::from(tick.units()) == units);
    tick.copied().unwrap_or(Tick::TenThousandth)
}

/// The values in the text of [`ErrorCode::of`]; the details of a rejection are numbers.
fn values(reason: RejectionReason, first: u64, second: u64) -> Vec<String> {
    let small = u8::try_from(first).ok();
    match reason {
        RejectionReason::InvalidTransition => {
            let state = small.and_then(MarketState::from_code);
            vec![state.map_or("unknown", state_word).to_owned()]
        }
        RejectionReason::BalanceLimit | RejectionReason::NotEnoughCollateral => [first, second]
            .map(|amount| micros(amount).to_string())
            .into(),
        RejectionReason::NotEnoughShares => {
            [first, second].map(|lots| shares(lots).to_string()).into()
        }
        RejectionReason::TooManyReferences | RejectionReason::TooManyWithdrawals => {
            [first, second].map(|it| it.to_string()).into()
        }
        RejectionReason::ValidityOutOfRange => [first, second].map(|it| it.to_string()).into(),
        RejectionReason::WithdrawalClaimed => vec![first.to_string()],
        RejectionReason::InvalidTick => {
            let tick = small.and_then(Tick::from_code);
            vec![tick.map_or("the market's", Tick::text).to_owned()]
        }
        RejectionReason::OperatorRole => {
            let role = small.and_then(OperatorRole::from_code);
            let role = role.map_or("unknown", role_word);
            vec![role.to_owned(), "others".to_owned()]
        }
        RejectionReason::ClockContradicts
        | RejectionReason::ClosesInPast
        | RejectionReason::ClockInPast => [first, second].map(|ms| iso_millis(TimeMs(ms))).into(),
        RejectionReason::ChallengeOpen | RejectionReason::ClockTooFar => {
            vec![iso_millis(TimeMs(first))]
        }
        RejectionReason::NewOperator => vec![first.to_string(), iso_millis(TimeMs(second))],
        // Resolving in one step has a window of 0.
        RejectionReason::InvalidWindow => [0, first, second].map(|it| it.to_string()).into(),
        reason if ErrorCode::of(reason) == ErrorCode::Rejected => vec![format!("{reason:?}")],
        // The core gives no values: the route of the command knows them.
        reason => {
            let parts = ErrorCode::of(reason).text().matches('<').count();
            vec!["unknown".to_owned(); parts]
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use rstest::rstest;

    fn order() -> RejectedOrder {
        RejectedOrder {
            order: OrderId([0xab; 32]),
            maker: WalletAddress([0x11; 20]),
            side: Side::Buy,
            maker_amount: 4_560_000,
            taker_amount: 10_000_000,
            timestamp: TimeMs(1_710_000_000_000),
            order_type: OrderType::Gtc,
        }
    }

    #[rstest]
    #[case(OrderType::Gtc, RejectionReason::MarketableBelowMinimum, true)]
    #[case(OrderType::Gtd, RejectionReason::MarketableBelowMinimum, true)]
    #[case(OrderType::Fok, RejectionReason::MarketableBelowMinimum, false)]
    #[case(OrderType::Fak, RejectionReason::MarketableBelowMinimum, false)]
    #[case(OrderType::Fok, RejectionReason::FokNotFilled, true)]
    #[case(OrderType::Fak, RejectionReason::FakNoMatch, true)]
    #[case(OrderType::Gtc, RejectionReason::CrossesBook, true)]
    #[case(OrderType::Gtc, RejectionReason::PriceOffTick, false)]
    fn kills_by_the_book_depend_on_reason_and_type(
        #[case] order_type: OrderType,
        #[case] reason: RejectionReason,
        #[case] killed: bool,
    ) {
        let order = RejectedOrder {
            order_type,
            ..order()
        };
        assert_eq!(order.is_killed_by_book(reason), killed);
    }

    /// The text has all digits of an off-tick price, and the range for a price outside it.
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
        let refusal = Rejection::with(RejectionReason::PriceOffTick, 100, 0);
        let order = RejectedOrder {
            maker_amount,
            taker_amount,
            ..order()
        };
        let error = ApiError::from_order_rejection(&refusal, &order);
        assert!(error.text().ends_with(text), "{error}");
    }

    #[rstest]
    #[case(
        Rejection::with(RejectionReason::PriceOffTick, 100, 0),
        "Price (0.456) breaks minimum tick size rule: 0.01"
    )]
    #[case(
        Rejection::with(RejectionReason::SizeNotLots, 5_001_000, 0),
        "Size (5.001) has more than two decimals"
    )]
    #[case(
        Rejection::with(RejectionReason::SizeBelowMinimum, 499, 500),
        "Size (4.99) lower than the minimum: 5"
    )]
    #[case(
        Rejection::with(RejectionReason::NotEnoughCollateral, 10_263_980, 3_000_000),
        "needed 10.26398, available 3"
    )]
    #[case(
        Rejection::with(RejectionReason::NotEnoughShares, 250, 1),
        "needed 2.5, available 0.01"
    )]
    #[case(
        Rejection::with(RejectionReason::MarketableBelowMinimum, 500_000, 1_000_000),
        "($0.5), min size: $1"
    )]
    #[case(
        Rejection::with(RejectionReason::TimestampOutOfWindow, 5, 6),
        "invalid order timestamp: 1710000000000, allowed 5..6"
    )]
    #[case(
        Rejection::with(RejectionReason::TooManyLiveOrders, 4_096, 4_096),
        "has 4096 live orders, allowed: 4096"
    )]
    #[case(RejectionReason::ClosedOnlyAccount.into(), "'0x1111111111111111111111111111111111111111' address in closed only mode")]
    #[case(RejectionReason::Duplicate.into(), "is invalid. Duplicated.")]
    fn the_text_carries_the_numbers_of_the_refusal(#[case] refusal: Rejection, #[case] part: &str) {
        let text = ApiError::from_order_rejection(&refusal, &order()).text();
        assert!(text.contains(part), "{text}");
    }

    #[rstest]
    #[case(RejectionReason::MarketPaused, 409)]
    #[case(RejectionReason::SystemPaused, 409)]
    #[case(RejectionReason::CancelOnly, 503)]
    #[case(RejectionReason::PostOnlyMode, 503)]
    #[case(RejectionReason::Busy, 503)]
    #[case(RejectionReason::FokNotFilled, 400)]
    #[case(RejectionReason::MarketClosed, 400)]
    #[case(RejectionReason::UnknownKey, 401)]
    fn a_refused_order_has_its_status(#[case] reason: RejectionReason, #[case] status: u16) {
        assert_eq!(
            ApiError::from_order_rejection(&reason.into(), &order()).status(),
            status
        );
    }

    #[rstest]
    #[case(RejectionReason::ReferenceReused, 409)]
    #[case(RejectionReason::MarketDiffers, 409)]
    #[case(RejectionReason::UnknownMarket, 404)]
    #[case(RejectionReason::UnknownEvent, 404)]
    #[case(RejectionReason::InvalidFee, 400)]
    #[case(RejectionReason::WorkPending, 503)]
    fn a_refused_command_is_a_conflict_or_bad_input(
        #[case] reason: RejectionReason,
        #[case] status: u16,
    ) {
        assert_eq!(
            ApiError::from_command_rejection(&reason.into()).status(),
            status
        );
    }

    #[test]
    fn no_reason_is_an_internal_error_or_without_text() {
        for reason in RejectionReason::ALL {
            for error in [
                ApiError::from_order_rejection(&(*reason).into(), &order()),
                ApiError::from_command_rejection(&(*reason).into()),
            ] {
                assert!(!error.text().is_empty());
                assert_ne!(error.status(), 500, "{reason:?}");
            }
        }
    }

    #[test]
    fn reasons_with_one_code_differ_in_the_request_only() {
        use RejectionReason as Reason;
        let mut reasons: HashMap<ErrorCode, Vec<Reason>> = HashMap::new();
        for &reason in Reason::ALL {
            let code = ApiError::from_command_rejection(&reason.into()).code();
            reasons.entry(code).or_default().push(reason);
        }
        // Reasons of orders and of the engine's own commands, which no route of a command gives.
        let other = reasons.remove(&ErrorCode::Rejected).unwrap();
        let of_orders = |reason: &Reason| {
            let error = ApiError::from_order_rejection(&(*reason).into(), &order());
            error.code() != ErrorCode::Rejected
        };
        let of_engine = [
            Reason::NothingPending,
            Reason::NothingDue,
            Reason::NotYetApplied,
            Reason::JournalBegun,
        ];
        // Those of sets of quotes, whose route names the quote.
        let of_sets = [
            Reason::InvalidQuotes,
            Reason::DuplicateQuote,
            Reason::QuotesCross,
        ];
        let is_known =
            |it: &Reason| of_orders(it) || of_engine.contains(it) || of_sets.contains(it);
        assert!(other.iter().all(is_known), "{other:?}");
        assert_eq!(
            reasons.remove(&ErrorCode::Busy).unwrap(),
            [Reason::Busy, Reason::WorkPending, Reason::TimeDue]
        );
        assert!(reasons.values().all(|same| same.len() == 1), "{reasons:?}");
    }

    #[test]
    fn a_wrong_clock_of_the_exchange_is_named_where_it_judged() {
        let refused = |reason| {
            let refusal = Rejection::with(reason, 5, 6);
            ApiError::from_order_rejection(&refusal, &order())
        };
        let late = RejectionReason::TimestampOutOfWindow;
        let named = refused(late).naming_clock(|| Some("300 s behind".to_owned()));
        assert_eq!(named.code(), ErrorCode::ExchangeClock);
        assert_eq!(
            named.text(),
            "timestamp is 1710000000000, allowed: 5 to 6; the exchange's clock is 300 s behind its host's"
        );
        assert_eq!(refused(late).naming_clock(|| None), refused(late));
        let other = refused(RejectionReason::SizeNotLots);
        let same = other
            .clone()
            .naming_clock(|| unreachable!("it was not judged by a clock"));
        assert_eq!(same, other);
    }

    #[test]
    fn a_price_without_shares_is_shown_as_0() {
        let of = RejectedOrder {
            taker_amount: 0,
            ..order()
        };
        assert_eq!(of.price(), Decimal::ZERO);
        let sell = RejectedOrder {
            side: Side::Sell,
            ..order()
        };
        assert_eq!(sell.price().to_string(), "2.192982456140350877");
    }
}
