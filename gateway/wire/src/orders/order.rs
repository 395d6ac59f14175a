//! `POST /order` and `POST /orders`: a signed order as clients send it (docs/api/orders.md §1).
//!
//! Stock clients put `expiration` *inside* `order` although it is not signed; `orderType`, `owner`,
//! `postOnly` and `deferExec` are siblings of `order`.

use foretell_model::evidence::WORDS_BYTES;
use foretell_model::limits::{MAX_ORDER_LOTS, MAX_SIGNATURE_BYTES};
use foretell_model::{
    ApiKey, ConditionId, OrderType, Side, TimeMs, TimeSeconds, TokenId, WalletAddress, WalletKind,
};
use serde::{Deserialize, Deserializer};

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_ORDERS;
use crate::read::body::{ORDER, RequestBody};
use crate::read::json::Value;
use crate::schema::JsonSchema;
#[cfg(feature = "documents")]
use crate::schema::{Schema, SchemaGenerator, json_schema};
use crate::text::decimal;
use crate::text::ids::{self, TokenRef};
use crate::text::time::{LAST_SECOND, SECONDS_ALLOWED};
use crate::values::{
    self, AnyToken, Bytes, Condition, Flag, Key, Millis, Optional, OrDefault, Signature65,
    SignatureType, Uint, Wallet, values,
};

/// An order and its terms. Unknown fields are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OrderSubmission {
    /// What its maker signed, and what stock clients put beside it.
    pub order: SignedOrder,
    /// The API key that the request is signed with.
    #[serde(with = "Owner")]
    pub owner: ApiKey,
    /// Type of the order, GTC by default.
    #[serde(deserialize_with = "order_type")]
    #[schemars(with = "Optional<values::OrderType>")]
    pub order_type: OrderType,
    /// Accepted, without effect.
    #[serde(with = "OrDefault::<Flag>")]
    pub defer_exec: bool,
    /// Reject the order if it would cross; GTC and GTD only.
    #[serde(with = "OrDefault::<Flag>")]
    pub post_only: bool,
}

impl OrderSubmission {
    /// The API family's rule for the amounts of orders that never rest: two decimals of what is given,
    /// four of what is taken.
    ///
    /// # Errors
    /// [`ErrorCode::MarketAmountsTooFine`].
    pub fn check_family_amounts(&self) -> Result<(), ApiError> {
        let order = &self.order;
        let is_fine = |amount: u64, decimals: u32| amount.is_multiple_of(10_u64.pow(6 - decimals));
        if matches!(self.order_type, OrderType::Gtc | OrderType::Gtd)
            || (is_fine(order.maker_amount, 2) && is_fine(order.taker_amount, 4))
        {
            return Ok(());
        }
        let side = match order.side {
            Side::Buy => "buy",
            Side::Sell => "sell",
        };
        Err(ErrorCode::MarketAmountsTooFine.with([&side]))
    }
}

/// The signed order, in the order in which stock clients write it. Unknown fields are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SignedOrder {
    /// Signed: makes the order's hash unique.
    #[serde(with = "Salt")]
    pub salt: [u8; 32],
    /// Signed: the wallet that trades.
    #[serde(with = "Wallet")]
    pub maker: WalletAddress,
    /// Signed: the signing address.
    #[serde(with = "Wallet")]
    pub signer: WalletAddress,
    /// Signed: the token. For `<condition>:<index>` the signed value is the registered token id.
    #[serde(rename = "tokenId", with = "OrderToken")]
    pub token: TokenRef,
    /// Signed: micros of collateral for a BUY, micro-shares for a SELL; above 0.
    #[serde(with = "OrderAmount")]
    pub maker_amount: u64,
    /// Signed: micro-shares for a BUY, micros of collateral for a SELL; above 0.
    #[serde(with = "OrderAmount")]
    pub taker_amount: u64,
    /// Signed: the side.
    #[serde(with = "values::Side")]
    pub side: Side,
    /// Unix seconds of a GTD, else 0. Not signed.
    #[serde(with = "OrDefault::<Expiration>")]
    pub expiration: TimeSeconds,
    /// Signed: 0 EOA, 1 proxy, 2 safe, 3 deposit wallet.
    #[serde(rename = "signatureType", with = "SignatureType")]
    pub kind: WalletKind,
    /// Signed: time of signing, unix milliseconds.
    #[serde(with = "Millis")]
    pub timestamp: TimeMs,
    /// Signed: opaque; zero by default.
    #[serde(with = "OrDefault::<Bytes>")]
    pub metadata: [u8; 32],
    /// Signed: the builder; zero by default.
    #[serde(with = "OrDefault::<Bytes>")]
    pub builder: [u8; 32],
    /// EIP-712 signature: 65 bytes, or 317 of a deposit wallet.
    #[serde(with = "Signature")]
    pub signature: Vec<u8>,
    /// Optional; must be the condition of the token.
    #[serde(rename = "conditionId", with = "Optional::<Condition>")]
    pub condition: Option<ConditionId>,
}

values! {
    Salt { reads [u8; 32]: Uint, "a number or text of digits, 0 to 2^256 - 1", |salt: &Uint| Some(salt.0); }
    OrderToken { reads TokenRef: str as AnyToken, "a text of 1 to 78 digits, or <condition_id>:<0 or 1>", TokenRef::parse; }
    OrderAmount { reads u64: str { "pattern": "^[1-9][0-9]{0,15}$" }, "a text of digits, 1 to 1000000000000000", amount; }
    Expiration { reads TimeSeconds: Uint { "maximum": LAST_SECOND }, SECONDS_ALLOWED, |time: &Uint| time.to_u64().filter(|time| *time <= LAST_SECOND).map(TimeSeconds); }
    Signature { reads Vec<u8>: str as Signature65, "0x and an even number of hex digits, up to 2048", |text| ids::bytes(text, MAX_SIGNATURE_BYTES); }
    /// A text that is no API key cannot equal the key of the request.
    Owner { reads ApiKey: str as Key, "the API key" => OwnerNotKeyOwner, ids::api_key; }
}

fn amount(text: &str) -> Option<u64> {
    let amount = decimal::digits_u64(text).ok();
    amount.filter(|amount| (1..=MAX_ORDER_LOTS.micro_shares()).contains(amount))
}

fn order_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<OrderType, D::Error> {
    let order_type = Optional::<values::OrderType>::deserialize(deserializer)?;
    Ok(order_type.unwrap_or(OrderType::Gtc))
}

impl RequestBody for OrderSubmission {
    const ERRORS: &'static [ErrorCode] = ORDER.codes;

    #[cfg(feature = "documents")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        ORDER.schema::<Self>(generator)
    }

    fn read(body: &[u8]) -> Result<Self, ApiError> {
        submission(&ORDER.parse(body, &mut Vec::new())?.value)
    }
}

/// The body of `POST /orders`: one result per order, in input order. Errors of the whole body: it is
/// no array, is empty, or has more than [`MAX_ORDERS`] elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderBatch(pub Vec<Result<OrderSubmission, ApiError>>);

impl RequestBody for OrderBatch {
    const ERRORS: &'static [ErrorCode] =
        &[ErrorCode::InvalidOrderPayload, ErrorCode::TooManyOrders];

    #[cfg(feature = "documents")]
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<OrderSubmission>();
        json_schema!({ "type": "array", "items": items, "minItems": 1, "maxItems": MAX_ORDERS })
    }

    fn read(body: &[u8]) -> Result<Self, ApiError> {
        match &ORDER.parse(body, &mut Vec::new())?.value {
            Value::Array(orders) if orders.len() > MAX_ORDERS => {
                Err(ErrorCode::TooManyOrders.with([&orders.len()]))
            }
            Value::Array(orders) if !orders.is_empty() => {
                Ok(Self(orders.iter().map(submission).collect()))
            }
            _ => Err(ErrorCode::InvalidOrderPayload.into()),
        }
    }
}

/// Reads one order of a body.
pub(crate) fn submission(value: &Value<'_>) -> Result<OrderSubmission, ApiError> {
    ORDER.read_value(value).map_err(|error: ApiError| {
        let of_field = matches!(
            error.code(),
            ErrorCode::MissingOrderField | ErrorCode::InvalidOrderField
        );
        match value {
            Value::Object(item) if of_field && is_of_old_version(item.get("order")) => {
                ErrorCode::OrderVersionMismatch.into()
            }
            _ => error,
        }
    })
}

/// Whether it is an order of the first version of signed orders, which has no timestamp.
fn is_of_old_version(order: &Value<'_>) -> bool {
    let Value::Object(order) = order else {
        return false;
    };
    let has_old_field = ["taker", "nonce", "feeRateBps"]
        .iter()
        .any(|key| order.has(key));
    has_old_field && !order.has("timestamp")
}

impl SignedOrder {
    /// The eleven signed words in the order of the EIP-712 type, 32 bytes big-endian each, as
    /// [`foretell_model::evidence::OrderEvidence`] stores them. `token` is the registered id of
    /// [`Self::token`].
    #[must_use]
    pub fn words(&self, token: &TokenId) -> [u8; WORDS_BYTES] {
        let number = |number: u64| Uint::from(number).0;
        let fields = [
            self.salt,
            address_word(&self.maker),
            address_word(&self.signer),
            token.0,
            number(self.maker_amount),
            number(self.taker_amount),
            number(u64::from(self.side.code())),
            number(u64::from(self.kind.code())),
            number(self.timestamp.0),
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

#[cfg(test)]
#[path = "order_tests.rs"]
mod tests;
