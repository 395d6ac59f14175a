use proptest::prelude::*;
use rstest::rstest;

use foretell_model::{OrderId, WalletAddress};

use super::*;
use crate::text::decimal::Decimal;

fn id() -> OrderId {
    OrderId([0xab; 32])
}

const ID: &str = "0xabababababababababababababababababababababababababababababababab";

#[rstest]
#[case(ErrorCode::InvalidOrderPayload.into(), 400, "invalid order payload")]
#[case(ErrorCode::OwnerNotKeyOwner.into(),
    400,
    "the order owner has to be the owner of the API KEY"
)]
#[case(ErrorCode::SignerNotKeyAddress.into(),
    400,
    "the order signer address has to be the address of the API KEY"
)]
#[case(
    ApiError::new(ErrorCode::InvalidSignature, vec!["s is not in the lower half".into()]),
    400,
    "invalid signature: s is not in the lower half"
)]
#[case(ErrorCode::OrderVersionMismatch.into(), 400, "order_version_mismatch")]
#[case(ErrorCode::PriceOffTick.with([&id(), &Decimal::micros(456_000), &"0.01"]), 400,
    &format!("order {ID} is invalid. Price (0.456) breaks minimum tick size rule: 0.01"))]
#[case(ErrorCode::SizeBelowMinimum.with([&id(), &(Decimal::new(499, 2)), &(Decimal::new(500, 2))]), 400,
    &format!("order {ID} is invalid. Size (4.99) lower than the minimum: 5"))]
#[case(ErrorCode::SizeNotLots.with([&id(), &Decimal::micros(5_001_000)]), 400,
    &format!("order {ID} is invalid. Size (5.001) has more than two decimals"))]
#[case(ErrorCode::DuplicateOrder.with([&id()]), 400, &format!("order {ID} is invalid. Duplicated."))]
#[case(ErrorCode::CrossesBook.into(), 400, "invalid post-only order: order crosses book")]
#[case(ErrorCode::InsufficientBalance.with([&Decimal::micros(10_263_980), &Decimal::micros(3_000_000)]), 400,
    "not enough balance / allowance: needed 10.26398, available 3")]
#[case(ErrorCode::InvalidExpiration.into(), 400, "invalid expiration")]
#[case(ErrorCode::FokNotFilled.into(),
    400,
    "order couldn't be fully filled. FOK orders are fully filled or killed."
)]
#[case(ErrorCode::FakNoMatch.into(),
    400,
    "no orders found to match with FAK order. FAK orders are partially filled or killed if no match is found."
)]
#[case(ErrorCode::MarketableBelowMinimum.with([&Decimal::micros(500_000), &Decimal::micros(1_000_000)]), 400,
    "invalid amount for a marketable BUY order ($0.5), min size: $1")]
#[case(ErrorCode::MarketPaused.into(), 409, "condition_paused")]
#[case(ErrorCode::SystemPaused.into(), 409, "system_paused")]
#[case(ErrorCode::MarketNotReady.into(),
    400,
    "the market is not yet ready to process new orders"
)]
#[case(ErrorCode::MarketClosed.into(), 400, "market is closed")]
#[case(ErrorCode::ClosedOnly.with([&(WalletAddress([0x11; 20]))]), 400,
    "'0x1111111111111111111111111111111111111111' address in closed only mode")]
#[case(
    ErrorCode::TooManyOrders.with([&16]),
    400,
    "Too many orders in payload: 16, max allowed: 15"
)]
#[case(ErrorCode::CancelOnly.into(),
    503,
    "Trading is currently cancel-only. New orders are not accepted, but cancels are allowed."
)]
#[case(ErrorCode::PostOnlyMode.into(),
    503,
    "post-only mode: only post-only orders and cancels are allowed"
)]
#[case(ErrorCode::InvalidTokenId.into(), 400, "Invalid token id")]
#[case(ErrorCode::InvalidSide.into(), 400, "Invalid side")]
#[case(ErrorCode::OrderbookNotFound.into(),
    404,
    "No orderbook exists for the requested token id"
)]
#[case(ErrorCode::MarketNotFound.into(), 404, "market not found")]
#[case(ErrorCode::InvalidCursor.into(), 400, "invalid next_cursor")]
#[case(ErrorCode::NonceRevoked.into(),
    400,
    "Could not create api key: nonce revoked"
)]
#[case(ErrorCode::TimestampOutOfWindow.with([&1, &2, &3]), 400, "invalid order timestamp: 1, allowed 2..3")]
#[case(ErrorCode::OutcomeUnknown.into(),
    503,
    "outcome unknown: query or retry with the same id"
)]
#[case(ErrorCode::SequenceNotReached.with([&7]), 503, "not yet at sequence 7")]
#[case(
    ErrorCode::DoneNotYetShown.with([&7]),
    503,
    "applied at sequence 7; this gateway does not show its effect yet"
)]
#[case(
    ErrorCode::ViewStopped.with([&7]),
    503,
    "reads are stopped: this gateway cannot follow the journal at sequence 7; cancels and orders are accepted"
)]
#[case(
    ErrorCode::DoneUnshown.with([&9, &7]),
    503,
    "applied at sequence 9; this gateway cannot show its effect: it cannot follow the journal at sequence 7"
)]
#[case(ErrorCode::NotSupported.into(), 404, "not supported")]
#[case(ErrorCode::Recovering.into(), 425, "the engine is recovering: retry later")]
#[case(
    ErrorCode::RateLimited.with([&"book", &200, &10, &3]),
    429,
    "rate limit exceeded: book, allowed: 200 in 10 s, retry in 3 s"
)]
#[case(ErrorCode::BodyTooLarge.with([&10]), 413, "the body is too large, allowed: 10 bytes")]
fn texts_and_codes_are_those_of_the_protocol(
    #[case] error: ApiError,
    #[case] status: u16,
    #[case] text: &str,
) {
    assert_eq!((error.status(), error.text().as_str()), (status, text));
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
