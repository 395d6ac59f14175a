use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn id() -> OrderId {
    OrderId([0xab; 32])
}

const ID: &str = "0xabababababababababababababababababababababababababababababababab";

#[rstest]
#[case(ApiError::InvalidOrderPayload, 400, "invalid order payload")]
#[case(
    ApiError::OwnerNotKeyOwner,
    400,
    "the order owner has to be the owner of the API KEY"
)]
#[case(
    ApiError::SignerNotKeyAddress,
    400,
    "the order signer address has to be the address of the API KEY"
)]
#[case(
    ApiError::Coded(ErrorCode::InvalidSignature, vec!["s is not in the lower half".into()]),
    400,
    "invalid signature: s is not in the lower half"
)]
#[case(ApiError::OrderVersionMismatch, 400, "order_version_mismatch")]
#[case(ApiError::PriceOffTick { order: id(), price: Decimal::micros(456_000), tick: Tick::Hundredth }, 400,
    &format!("order {ID} is invalid. Price (0.456) breaks minimum tick size rule: 0.01"))]
#[case(ApiError::SizeBelowMinimum { order: id(), size: Decimal::new(499, 2), minimum: Decimal::new(500, 2) }, 400,
    &format!("order {ID} is invalid. Size (4.99) lower than the minimum: 5"))]
#[case(ApiError::SizeNotLots { order: id(), size: Decimal::micros(5_001_000) }, 400,
    &format!("order {ID} is invalid. Size (5.001) has more than two decimals"))]
#[case(ApiError::Duplicated { order: id() }, 400, &format!("order {ID} is invalid. Duplicated."))]
#[case(ApiError::CrossesBook { order: id() }, 400, &format!("order {ID} crosses the book"))]
#[case(ApiError::NotEnoughBalance { needed: Decimal::micros(10_263_980), available: Decimal::micros(3_000_000) }, 400,
    "not enough balance / allowance: needed 10.26398, available 3")]
#[case(ApiError::InvalidExpiration, 400, "invalid expiration")]
#[case(
    ApiError::FokNotFilled,
    400,
    "order couldn't be fully filled. FOK orders are fully filled or killed."
)]
#[case(
    ApiError::FakNoMatch,
    400,
    "no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found."
)]
#[case(ApiError::MarketableBelowMinimum { amount: Decimal::micros(500_000), minimum: Decimal::micros(1_000_000) }, 400,
    "invalid amount for a marketable BUY order ($0.5), min size: $1")]
#[case(ApiError::ConditionPaused, 409, "condition_paused")]
#[case(ApiError::SystemPaused, 409, "system_paused")]
#[case(
    ApiError::MarketNotReady,
    400,
    "the market is not yet ready to process new orders"
)]
#[case(ApiError::MarketClosed, 400, "market is closed")]
#[case(ApiError::ClosedOnly { wallet: WalletAddress([0x11; 20]) }, 400,
    "'0x1111111111111111111111111111111111111111' address in closed only mode")]
#[case(
    ApiError::TooManyOrders(16),
    400,
    "Too many orders in payload: 16, max allowed: 15"
)]
#[case(
    ApiError::CancelOnly,
    503,
    "Trading is currently cancel-only. New orders are not accepted, but cancels are allowed."
)]
#[case(
    ApiError::PostOnlyMode,
    503,
    "post-only mode: only post-only orders and cancels are allowed"
)]
#[case(ApiError::InvalidTokenId, 400, "Invalid token id")]
#[case(ApiError::InvalidSide, 400, "Invalid side")]
#[case(
    ApiError::NoOrderbook,
    404,
    "No orderbook exists for the requested token id"
)]
#[case(ApiError::MarketNotFound, 404, "market not found")]
#[case(ApiError::InvalidCursor, 400, "invalid next_cursor")]
#[case(ApiError::NonceRevoked, 400, "Could not create api key: nonce revoked")]
#[case(ApiError::TimestampOutOfWindow { given: 1, from: 2, to: 3 }, 400, "invalid order timestamp: 1, allowed 2..3")]
#[case(
    ApiError::OutcomeUnknown,
    503,
    "outcome unknown: query or retry with the same id"
)]
#[case(ApiError::SequenceNotReached(7), 503, "not yet at sequence 7")]
#[case(
    ApiError::DoneNotYetShown(7),
    503,
    "done at sequence 7; this gateway does not show it yet"
)]
#[case(
    ApiError::ViewStopped(7),
    503,
    "reads are stopped: this gateway cannot follow the journal at sequence 7; cancels and orders are taken"
)]
#[case(
    ApiError::DoneUnshown { sequence: 9, stopped: 7 },
    503,
    "done at sequence 9; what it did is not shown: this gateway cannot follow the journal at sequence 7"
)]
#[case(ApiError::NotSupported, 404, "not supported")]
#[case(ApiError::Recovering, 425, "the engine is recovering: retry later")]
#[case(
    ApiError::RateLimited { scope: "book", limit: 200, window: 10, retry_after: 3 },
    429,
    "rate limit exceeded: book, allowed: 200 in 10 s, retry in 3 s"
)]
#[case(ApiError::BodyTooLarge { limit: 10 }, 413, "the body is too large, allowed: 10 bytes")]
fn texts_and_codes_are_those_of_the_protocol(
    #[case] error: ApiError,
    #[case] status: u16,
    #[case] text: &str,
) {
    assert_eq!((error.status(), error.text().as_str()), (status, text));
}

#[test]
fn every_503_and_425_says_when_to_come_back() {
    for error in [
        ApiError::Busy,
        ApiError::DiskLow,
        ApiError::EngineUnavailable,
        ApiError::Recovering,
        ApiError::OutcomeUnknown,
        ApiError::SnapshotFailed,
        ApiError::SnapshotTimeout,
        ApiError::SequenceNotReached(1),
        ApiError::DoneNotYetShown(1),
        ApiError::ViewStopped(1),
        ApiError::DoneUnshown {
            sequence: 2,
            stopped: 1,
        },
        ApiError::TooManyWaiters,
        ApiError::CancelOnly,
        ApiError::PostOnlyMode,
        ApiError::RateLimited {
            scope: "book",
            limit: 200,
            window: 10,
            retry_after: 1,
        },
    ] {
        assert!(
            error.retry_after().is_some_and(|seconds| seconds > 0),
            "{error:?}"
        );
    }
    assert_eq!(ApiError::InvalidSide.retry_after(), None);
}

#[rstest]
#[case("abc", "'abc'")]
#[case("a\nb\0", "'a\\nb\\0'")]
#[case("\u{202e}evil", "'\\u{202e}evil'")]
#[case("it's", "'it's'")]
#[case(&"x".repeat(49), &format!("'{}...'", "x".repeat(48)))]
#[case(&"x".repeat(48), &format!("'{}'", "x".repeat(48)))]
fn a_clients_own_text_is_cut_and_escaped(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(quoted(text), expected);
}

proptest! {
    #[test]
    fn no_repeated_text_is_long_or_holds_control_characters(text: String) {
        let shown = quoted(&text);
        prop_assert!(shown.len() <= 48 * 10 + 5);
        prop_assert!(!shown.chars().any(char::is_control));
    }
}
