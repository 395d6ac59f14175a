//! Forms that bodies of more than one page share.

use foretell_model::evidence::ActEvidence;
use foretell_model::limits::{MAX_REASON_CHARS, MAX_SIGNATURE_BYTES};
use foretell_model::{ApiKey, ConditionId, Lots, Micros, TimeMs, WalletAddress, WalletKind};

use crate::errors::error_code::ErrorCode;
use crate::limits::MAX_ORDER_ID_TEXT;
use crate::read::form::{Digits, forms};
use crate::read::texts;
use crate::text::decimal::{self, Decimal};
use crate::text::ids::{self, TokenRef};
use crate::text::printable::{is_direction_control, is_printable};
use crate::written;

/// Texts without controls.
#[cfg(feature = "documents")]
pub(crate) const SHOWN: &str = "^[^\\x00-\\x1f\\x7f-\\x9f]*$";

forms! {
    /// A wallet, in hex of any case.
    pub(crate) Wallet(WalletAddress, str as texts::AnyAddress): "an address, 0x and 40 hex digits", ids::address;
    /// A market.
    pub Condition(ConditionId, str as texts::AnyHash | written::Hash): "a condition id, 0x and 64 hex digits", ids::condition_id, ToString::to_string;
    /// 32 bytes.
    pub(crate) Bytes32([u8; 32], str as texts::AnyHash): "0x and 64 hex digits", ids::bytes32;
    /// A time.
    pub(crate) Millis(TimeMs, Digits): "digits, unix milliseconds", |digits: &Digits| digits.to_u64().map(TimeMs);
    /// A signature of 65 bytes; other lengths are refused where it is checked.
    pub(crate) Signature65(Vec<u8>, str = { "pattern": "^0x([0-9a-fA-F]{2}){0,2048}$" }): "0x and 130 hex digits", |text| ids::bytes(text, MAX_SIGNATURE_BYTES);
    /// The kind of a maker.
    pub(crate) SignatureType(WalletKind, u8 = { "maximum": 3 }): "a number, 0 to 3", |code: &u8| WalletKind::from_code(*code);
    /// Collateral in whole units.
    pub Collateral(Micros, str as texts::AnyAmount | written::Amount): "a text, whole units with up to six decimals", decimal::micros, decimal_text;
    /// Shares.
    pub Shares(Lots, str as texts::AnyShares | written::Amount): "a text, shares with up to two decimals", decimal::lots, decimal_text;
    /// An API key.
    pub Key(ApiKey, str as written::Key): "an api key, a UUID", ids::api_key, ids::api_key_text;
    /// A token whose error is a fixed text.
    pub(crate) Token(TokenRef, str as texts::AnyToken): "a text" => ErrorCode::InvalidTokenId.text(), TokenRef::parse;
    /// An order as a client names it, also one that no order has.
    pub(crate) OrderName(String, str = { "minLength": 1, "maxLength": MAX_ORDER_ID_TEXT }): "an order id, 0x and 64 hex digits",
        |text: &str| (1..=MAX_ORDER_ID_TEXT).contains(&text.len()).then(|| text.to_owned());
    /// An idempotency reference.
    pub(crate) Reference(String, str = { "minLength": 1, "maxLength": 64, "pattern": SHOWN }): "a text of 1 to 64 printable characters",
        |text: &str| is_reference(text).then(|| text.to_owned()), String::clone;
    /// Why an operator sent a command.
    pub(crate) ReasonText(String, str = { "maxLength": MAX_REASON_CHARS, "pattern": SHOWN }): "a text of at most 256 characters without controls, also of direction", reason;
    pub(crate) Flag(bool, bool): "true or false", |flag: &bool| Some(*flag), bool::clone;
}

/// Whether a text may be a reference.
pub(crate) fn is_reference(text: &str) -> bool {
    (1..=64).contains(&text.chars().count()) && text.chars().all(is_printable)
}

/// The shortest text of a decimal.
pub(crate) fn decimal_text<T: Copy + Into<Decimal>>(value: &T) -> String {
    (*value).into().to_string()
}

fn reason(text: &str) -> Option<String> {
    let is_reason = ActEvidence::is_reason(text) && !text.chars().any(is_direction_control);
    is_reason.then(|| text.to_owned())
}
