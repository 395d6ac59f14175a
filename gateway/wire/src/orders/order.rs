//! `POST /order` and `POST /orders`: a signed order as clients send it (docs/api/orders.md §1).
//!
//! Stock clients put `expiration` *inside* `order` although it is not signed; `orderType`, `owner`,
//! `postOnly` and `deferExec` are siblings of `order`.

use foretell_model::evidence::WORDS_BYTES;
use foretell_model::limits::{MAX_ORDER_LOTS, MAX_SIGNATURE_BYTES};
use foretell_model::{
    ApiKey, ConditionId, OrderType, Side, TimeMs, TimeSeconds, TokenId, WalletAddress, WalletKind,
};

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::limits::{MAX_ORDERS, ORDER_BODY_BYTES, ORDERS_BODY_BYTES};
use crate::read::json::{self, Number, Object, Value};
use crate::text::decimal::{self, DigitsError};
use crate::text::ids::{self, TokenRef};

/// A parsed order, not yet verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderSubmission {
    /// Signed: makes the order's hash unique.
    pub salt: [u8; 32],
    /// Signed: the wallet that trades.
    pub maker: WalletAddress,
    /// Signed: the signing address.
    pub signer: WalletAddress,
    /// Signed: the token. For `<condition>:<index>` the signed value is the registered token id.
    pub token: TokenRef,
    /// Signed: micros of collateral for a BUY, micro-shares for a SELL; above 0.
    pub maker_amount: u64,
    /// Signed: micro-shares for a BUY, micros of collateral for a SELL; above 0.
    pub taker_amount: u64,
    /// Signed.
    pub side: Side,
    /// Signed: the signature type.
    pub kind: WalletKind,
    /// Signed: time of signing.
    pub timestamp: TimeMs,
    /// Signed: opaque; zero by default.
    pub metadata: [u8; 32],
    /// Signed: the builder; zero by default.
    pub builder: [u8; 32],
    /// As received, at most [`MAX_SIGNATURE_BYTES`] bytes.
    pub signature: Vec<u8>,
    /// The API key that the order claims as its origin.
    pub owner: ApiKey,
    /// Optional: the expected condition of the token.
    pub condition: Option<ConditionId>,
    /// GTC by default.
    pub order_type: OrderType,
    /// GTD only; 0 by default.
    pub expiration: TimeSeconds,
    /// Rejected if it would cross; false by default.
    pub post_only: bool,
}

impl OrderSubmission {
    /// The eleven signed words in the order of the EIP-712 type, 32 bytes big-endian each, as
    /// [`foretell_model::evidence::OrderEvidence`] stores them. `token` is the registered id of
    /// [`Self::token`].
    #[must_use]
    pub fn words(&self, token: &TokenId) -> [u8; WORDS_BYTES] {
        let fields = [
            self.salt,
            address_word(&self.maker),
            address_word(&self.signer),
            token.0,
            number_word(self.maker_amount),
            number_word(self.taker_amount),
            number_word(u64::from(self.side.code())),
            number_word(u64::from(self.kind.code())),
            number_word(self.timestamp.0),
            self.metadata,
            self.builder,
        ];
        let mut words = [0; WORDS_BYTES];
        for (word, field) in words.chunks_exact_mut(32).zip(fields) {
            word.copy_from_slice(&field);
        }
        words
    }
}

fn address_word(address: &WalletAddress) -> [u8; 32] {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.0);
    word
}

fn number_word(number: u64) -> [u8; 32] {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&number.to_be_bytes());
    word
}

/// Reads the body of `POST /order`.
///
/// # Errors
/// Too large a body, broken JSON, a duplicate key, the old order version, a field that is missing
/// or wrong.
pub fn read_order(body: &[u8]) -> Result<OrderSubmission, ApiError> {
    if body.len() > ORDER_BODY_BYTES {
        return Err(ErrorCode::BodyTooLarge.with([&ORDER_BODY_BYTES]));
    }
    let mut copy = Vec::new();
    let value = json::read(body, &mut copy).map_err(|_| ErrorCode::InvalidOrderPayload)?;
    submission(&value)
}

/// Reads the body of `POST /orders`: one result per order, in input order.
///
/// # Errors
/// Errors of the whole body: too large, broken JSON, not an array, empty, or more than
/// [`MAX_ORDERS`] elements. Any other error belongs to its element.
pub fn read_orders(body: &[u8]) -> Result<Vec<Result<OrderSubmission, ApiError>>, ApiError> {
    if body.len() > ORDERS_BODY_BYTES {
        return Err(ErrorCode::BodyTooLarge.with([&ORDERS_BODY_BYTES]));
    }
    let mut copy = Vec::new();
    match json::read(body, &mut copy) {
        Ok(Value::Array(elements)) if elements.len() > MAX_ORDERS => {
            Err(ErrorCode::TooManyOrders.with([&elements.len()]))
        }
        Ok(Value::Array(elements)) if !elements.is_empty() => {
            Ok(elements.iter().map(submission).collect())
        }
        _ => Err(ErrorCode::InvalidOrderPayload.into()),
    }
}

pub(crate) fn submission(value: &Value<'_>) -> Result<OrderSubmission, ApiError> {
    let Value::Object(item) = value else {
        return Err(ErrorCode::InvalidOrderPayload.into());
    };
    let Value::Object(order) = item.get("order") else {
        return Err(wrong_or_missing(item, "order", "an object"));
    };
    if let Some(key) = item.duplicate().or_else(|| order.duplicate()) {
        return Err(ErrorCode::RepeatedOrderField.with([&key]));
    }
    let of_old_version = ["taker", "nonce", "feeRateBps"]
        .iter()
        .any(|key| order.has(key));
    if of_old_version && !order.has("timestamp") {
        return Err(ErrorCode::OrderVersionMismatch.into());
    }
    Ok(OrderSubmission {
        salt: salt(order)?,
        maker: address(order, "maker")?,
        signer: address(order, "signer")?,
        token: token(order)?,
        maker_amount: amount(order, "makerAmount")?,
        taker_amount: amount(order, "takerAmount")?,
        side: side(order)?,
        kind: signature_type(order)?,
        timestamp: TimeMs(timestamp(order)?),
        metadata: bytes32_or_zero(order, "metadata")?,
        builder: bytes32_or_zero(order, "builder")?,
        signature: signature(order)?,
        owner: owner(item)?,
        condition: condition(order)?,
        order_type: order_type(item)?,
        expiration: TimeSeconds(expiration(order)?),
        post_only: flag(item, "postOnly")?,
    })
    .and_then(|order| flag(item, "deferExec").map(|_accepted_and_ignored| order))
}

/// The error of a field that is missing or has a wrong value.
fn wrong_or_missing(object: &Object<'_>, field: &'static str, allowed: &'static str) -> ApiError {
    let value = match object.get(field) {
        Value::Null => None,
        value => Some(value.shown()),
    };
    ApiError::of_order(FieldError {
        field,
        value,
        allowed,
    })
}

/// Reads a text field with `read`.
fn text_field<T>(
    object: &Object<'_>,
    field: &'static str,
    allowed: &'static str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, ApiError> {
    match object.get(field) {
        Value::Text(text) => read(text),
        _ => None,
    }
    .ok_or_else(|| wrong_or_missing(object, field, allowed))
}

fn salt(order: &Object<'_>) -> Result<[u8; 32], ApiError> {
    const ALLOWED: &str = "a number or text of digits, 0 to 2^256 - 1";
    match order.get("salt") {
        Value::Text(text) | Value::Number(Number::Other(text)) => decimal::uint256(text).ok(),
        Value::Number(Number::Whole(number)) => Some(number_word(*number)),
        _ => None,
    }
    .ok_or_else(|| wrong_or_missing(order, "salt", ALLOWED))
}

fn address(order: &Object<'_>, field: &'static str) -> Result<WalletAddress, ApiError> {
    text_field(
        order,
        field,
        "an address, 0x and 40 hex digits",
        ids::address,
    )
}

fn token(order: &Object<'_>) -> Result<TokenRef, ApiError> {
    const ALLOWED: &str = "a text of 1 to 78 digits, or <condition_id>:<0 or 1>";
    text_field(order, "tokenId", ALLOWED, TokenRef::parse)
}

fn amount(order: &Object<'_>, field: &'static str) -> Result<u64, ApiError> {
    const ALLOWED: &str = "a text of digits, 1 to 1000000000000000";
    text_field(order, field, ALLOWED, |text| {
        let amount = decimal::digits_u64(text).ok();
        amount.filter(|amount| (1..=MAX_ORDER_LOTS.micro_shares()).contains(amount))
    })
}

fn side(order: &Object<'_>) -> Result<Side, ApiError> {
    text_field(order, "side", "BUY or SELL", |text| match text {
        "BUY" => Some(Side::Buy),
        "SELL" => Some(Side::Sell),
        _ => None,
    })
}

fn signature_type(order: &Object<'_>) -> Result<WalletKind, ApiError> {
    match order.get("signatureType") {
        Value::Number(Number::Whole(code)) => {
            u8::try_from(*code).ok().and_then(WalletKind::from_code)
        }
        _ => None,
    }
    .ok_or_else(|| wrong_or_missing(order, "signatureType", "a number, 0 to 3"))
}

/// Reads a 64-bit integer given as text or number; `None` when absent.
fn integer(
    object: &Object<'_>,
    field: &'static str,
    allowed: &'static str,
) -> Result<Option<u64>, ApiError> {
    let read: Result<u64, DigitsError> = match object.get(field) {
        Value::Null => return Ok(None),
        Value::Number(Number::Whole(number)) => Ok(*number),
        Value::Text(text) => decimal::digits_u64(text),
        _ => Err(DigitsError::NotDigits),
    };
    read.map(Some)
        .map_err(|_| wrong_or_missing(object, field, allowed))
}

fn timestamp(order: &Object<'_>) -> Result<u64, ApiError> {
    const ALLOWED: &str = "digits, unix milliseconds";
    integer(order, "timestamp", ALLOWED)?
        .ok_or_else(|| wrong_or_missing(order, "timestamp", ALLOWED))
}

fn expiration(order: &Object<'_>) -> Result<u64, ApiError> {
    let seconds = integer(order, "expiration", "digits, unix seconds, 0 = none")?;
    Ok(seconds.unwrap_or(0))
}

fn bytes32_or_zero(order: &Object<'_>, field: &'static str) -> Result<[u8; 32], ApiError> {
    if !order.has(field) {
        return Ok([0; 32]);
    }
    text_field(order, field, "0x and 64 hex digits", ids::bytes32)
}

fn signature(order: &Object<'_>) -> Result<Vec<u8>, ApiError> {
    const ALLOWED: &str = "0x and an even number of hex digits, up to 2048";
    text_field(order, "signature", ALLOWED, |text| {
        ids::bytes(text, MAX_SIGNATURE_BYTES)
    })
}

fn condition(order: &Object<'_>) -> Result<Option<ConditionId>, ApiError> {
    if !order.has("conditionId") {
        return Ok(None);
    }
    const ALLOWED: &str = "a condition id, 0x and 64 hex digits";
    text_field(order, "conditionId", ALLOWED, ids::condition_id).map(Some)
}

/// A text that is not an API key cannot equal the key of the request.
fn owner(item: &Object<'_>) -> Result<ApiKey, ApiError> {
    match item.get("owner") {
        Value::Text(text) => ids::api_key(text).ok_or_else(|| ErrorCode::OwnerNotKeyOwner.into()),
        _ => Err(wrong_or_missing(item, "owner", "the API key")),
    }
}

fn order_type(item: &Object<'_>) -> Result<OrderType, ApiError> {
    if !item.has("orderType") {
        return Ok(OrderType::Gtc);
    }
    text_field(item, "orderType", "GTC, GTD, FOK or FAK", |text| {
        OrderType::ALL
            .iter()
            .copied()
            .find(|order_type| order_type_text(*order_type) == text)
    })
}

/// The text of an order type.
#[must_use]
pub const fn order_type_text(order_type: OrderType) -> &'static str {
    match order_type {
        OrderType::Gtc => "GTC",
        OrderType::Gtd => "GTD",
        OrderType::Fok => "FOK",
        OrderType::Fak => "FAK",
    }
}

/// The text of a side.
#[must_use]
pub const fn side_text(side: Side) -> &'static str {
    match side {
        Side::Buy => "BUY",
        Side::Sell => "SELL",
    }
}

fn flag(item: &Object<'_>, field: &'static str) -> Result<bool, ApiError> {
    match item.get(field) {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(*flag),
        _ => Err(wrong_or_missing(item, field, "true or false")),
    }
}

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
