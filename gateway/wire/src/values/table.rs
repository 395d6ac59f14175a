//! The values that requests and answers of more than one page have.

use core::borrow::Borrow;
use core::fmt::{self, Display};

use foretell_model::evidence::ActEvidence;
use foretell_model::limits::{MAX_REASON_CHARS, MAX_SIGNATURE_BYTES};
use foretell_model::{self as model, Outcome, Price, TimeMs, TimeNs, TimeSeconds, TokenId};

use crate::limits::MAX_ORDER_ID_TEXT;
use crate::read::page::Cursor;
use crate::text::decimal::{self, Decimal, Number};
use crate::text::ids::{self, TokenRef};
use crate::text::printable::{is_direction_control, is_printable};
use crate::text::time::{self, LAST_SECOND, SECONDS_ALLOWED};
use crate::text::words::{mode_word, order_type_text, role_word, side_text, state_word};
use crate::values::{Text, Uint, values};

/// 32 bytes: how errors name them, and their pattern in any case and when written.
macro_rules! hex32 {
    (words) => {
        "0x and 64 hex digits"
    };
    (any) => {
        "0x[0-9a-fA-F]{64}"
    };
    (written) => {
        concat!("0x", $crate::values::hex32!(digits))
    };
    (digits) => {
        "[0-9a-f]{64}"
    };
}
pub(crate) use hex32;

/// Texts without controls.
#[cfg(feature = "documents")]
pub(crate) const SHOWN: &str = "^[^\\x00-\\x1f\\x7f-\\x9f]*$";

values! {
    /// Address of a wallet; case carries no meaning.
    pub Wallet { reads model::WalletAddress: str = AnyAddress { "pattern": "^0x[0-9a-fA-F]{40}$" }, "an address, 0x and 40 hex digits", ids::address; }
    /// Address of a wallet.
    pub Address {
        reads model::WalletAddress: str as Wallet, "an address, 0x and 40 hex digits; in mixed case with its checksum (EIP-55)", ids::typed_address;
        writes [Display] = Address { "pattern": "^0x[0-9a-f]{40}$" }, shown;
    }
    /// 32 bytes.
    pub Bytes {
        reads [u8; 32]: str = AnyHash { "pattern": concat!("^", hex32!(any), "$"), "description": "32 bytes; case carries no meaning." }, hex32!(words), ids::bytes32;
        writes [Borrow<[u8; 32]>] = Hash { "pattern": concat!("^", hex32!(written), "$") }, ids::hex_text;
    }
    /// 32 bytes.
    pub Hash { writes [Display] as Bytes, shown; }
    /// A market.
    pub Condition {
        reads model::ConditionId: str as Bytes, concat!("a condition id, ", hex32!(words)), ids::condition_id;
        writes [Display] as Bytes, shown;
    }
    /// An order.
    pub Order { reads model::OrderId: str as Bytes, OrderName::ALLOWED, ids::order_id; }
    /// An order as a client names it, also one that no order has.
    pub OrderName {
        reads String: str { "minLength": 1, "maxLength": MAX_ORDER_ID_TEXT }, concat!("an order id, ", hex32!(words)),
            |text: &str| (1..=MAX_ORDER_ID_TEXT).contains(&text.len()).then(|| text.to_owned());
    }
    /// An id as a client wrote it.
    pub IdText { reads String: str { "maxLength": MAX_ORDER_ID_TEXT }, "a text of up to 128 bytes", |text: &str| (text.len() <= MAX_ORDER_ID_TEXT).then(|| text.to_owned()); }
    /// Token id, decimal.
    pub Token { writes [Borrow<TokenId>] = Token { "pattern": "^[0-9]{1,78}$" }, ids::token_text; }
    /// Token id: decimal, or `<condition id>:<outcome index>`.
    pub AnyToken { reads TokenRef: str = AnyToken { "pattern": concat!("^([0-9]{1,78}|", hex32!(any), ":[01])$") }, "a text" => InvalidTokenId, TokenRef::parse; }
    /// A token in either form.
    pub QueryToken { reads TokenRef: str as AnyToken, "a token id" => InvalidTokenId, TokenRef::parse; }
    /// Token id: `<condition id>:<outcome index>`, or decimal, as the exchange is configured.
    pub ConfiguredToken { writes [Display] = ConfiguredToken { "pattern": concat!("^(", hex32!(written), ":[01]|[0-9]{1,78})$") }, shown; }
    /// Token id: `<condition id>:<outcome index>`.
    pub Asset { writes [Display] = Asset { "pattern": concat!("^", hex32!(written), ":[01]$") }, shown; }
    /// 0: the first outcome, 1: the second.
    pub OutcomeIndex { writes [Borrow<Outcome>] = OutcomeIndex { "type": "integer", "enum": [0, 1] }, |outcome: &Outcome| outcome.code(); }
    /// Id of a trade, or its transaction hash.
    pub AnyTrade { reads String: str = AnyTrade { "pattern": concat!("^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|", hex32!(any), ")$") }, "a trade", any_text; }
    /// An API key.
    pub Key { reads model::ApiKey: str = Key { "format": "uuid" }, "an api key, a UUID", ids::api_key, ids::api_key_text; }
    /// A signature of 65 bytes; other lengths are refused where it is checked.
    pub Signature65 { reads Vec<u8>: str { "pattern": "^0x([0-9a-fA-F]{2}){0,2048}$" }, "0x and 130 hex digits", |text| ids::bytes(text, MAX_SIGNATURE_BYTES); }
    /// The kind of a maker.
    pub SignatureType { reads model::WalletKind: u8 { "maximum": 3 }, "a number, 0 to 3", |code: &u8| model::WalletKind::from_code(*code); }

    /// Whole units, up to six decimals.
    pub Collateral {
        reads model::Micros: str = AnyAmount { "pattern": "^[0-9]{1,78}([.][0-9]{1,6})?$" }, "a text, whole units with up to six decimals", decimal::micros;
        writes [Copy + Into<Decimal>] as Amount, text;
    }
    /// A decimal in whole units, shortest form.
    pub Amount {
        reads model::Micros: str as Collateral, "a text, whole units with up to six decimals, above 0", |text: &str| decimal::micros(text).filter(|amount| !amount.is_zero());
        writes [Copy + Into<Decimal>] = Amount { "pattern": "^(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$" }, text;
    }
    /// A decimal in whole units, shortest form; empty when undefined.
    pub AmountOrEmpty { writes [Borrow<Option<Price>>] = AmountOrEmpty { "pattern": "^((0|[1-9][0-9]*)(\\.[0-9]*[1-9])?)?$" }, |price: &Option<Price>| Text(OrEmpty(*price)); }
    /// A decimal in whole units, shortest form; may be negative.
    pub DecimalText { writes [Copy + Into<Decimal>] = DecimalText { "pattern": "^-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$" }, text; }
    /// Shares, up to two decimals.
    pub Shares {
        reads model::Lots: str = AnyShares { "pattern": "^[0-9]{1,78}([.][0-9]{1,2})?$" }, "a text, shares with up to two decimals", decimal::lots;
        writes [Copy + Into<Decimal>] as Amount, text;
    }
    /// Whole units with up to six decimals, as micros.
    pub MicrosText {
        reads u64: str { "type": "number", "minimum": 0, "maximum": u64::MAX / 1_000_000 }, "a number from 0 to 18446744073709.551615 with at most 6 decimals",
            |text| decimal::micros(text).map(|model::Micros(micros)| micros);
    }
    /// A number of shares.
    pub ShareNumber { writes [Copy + Into<Decimal>] = Shares { "type": "number", "exclusiveMinimum": 0 }, number; }
    /// A price or a rate.
    pub Fraction { writes [Copy + Into<Decimal>] = Fraction { "type": "number", "minimum": 0, "maximum": 1 }, number; }
    /// A tick.
    pub TickSize { reads model::Tick: str = TickText { "enum": words(model::Tick::ALL, model::Tick::text) }, "a text: 0.1, 0.01, 0.005, 0.0025, 0.001 or 0.0001", decimal::tick, |tick: &model::Tick| tick.text(); }
    /// A tick.
    pub TickNumber { writes [Borrow<model::Tick>] = TickNumber { "type": "number", "exclusiveMinimum": 0, "maximum": 1, "examples": words(model::Tick::ALL, Number::from) }, number; }
    /// A number in decimal digits.
    pub Digits { writes [Display] = Digits { "pattern": "^[0-9]+$" }, shown; }

    /// Unix milliseconds, in digits.
    pub Millis {
        reads TimeMs: Uint, "digits, unix milliseconds", |millis: &Uint| millis.to_u64().map(TimeMs);
        writes [Borrow<TimeMs>] = Millis { "pattern": "^[0-9]+$" }, |time: &TimeMs| Text(time.0);
    }
    /// A time in ISO 8601.
    pub Iso { writes [Borrow<TimeNs>] = Iso { "format": "date-time" }, |time: &TimeNs| time::iso(*time); }
    /// Unix seconds.
    pub Seconds { writes [Borrow<TimeNs>] = Seconds { "type": "integer", "minimum": 0 }, |time: &TimeNs| time.seconds().0; }
    /// Unix seconds of a query.
    pub UnixSeconds { reads u64: str { "type": "integer", "minimum": 0, "maximum": LAST_SECOND }, SECONDS_ALLOWED, time::seconds; }
    /// Unix seconds of a query as a time.
    pub UnixTime { reads TimeSeconds: str as UnixSeconds, SECONDS_ALLOWED, |text| time::seconds(text).map(TimeSeconds); }
    /// A UTC day.
    pub Day { writes [Display] = Day { "format": "date" }, shown; }

    /// BUY or SELL, in any case.
    pub AnySide { reads model::Side: str = AnySide { "pattern": "^([bB][uU][yY]|[sS][eE][lL][lL])$" }, "BUY or SELL" => InvalidSide | InvalidSide, any_side; }
    /// Side of an order.
    pub Side { reads model::Side: str = Side { "enum": words(model::Side::ALL, side_text) }, "BUY or SELL", find(model::Side::ALL, side_text), written(side_text); }
    /// Side of an order; empty when undefined.
    pub SideOrEmpty { writes [Borrow<Option<model::Side>>] = SideOrEmpty { "enum": ["BUY", "SELL", ""] }, |side: &Option<model::Side>| side.map_or("", side_text); }
    /// Type of an order.
    pub OrderType { reads model::OrderType: str = OrderType { "enum": words(model::OrderType::ALL, order_type_text) }, "GTC, GTD, FOK or FAK", find(model::OrderType::ALL, order_type_text), written(order_type_text); }
    /// State of a market.
    pub State { reads model::MarketState: str = State { "enum": words(model::MarketState::ALL, state_word) }, "registered, active, paused, closed or resolved", find(model::MarketState::ALL, state_word), written(state_word); }
    /// Which commands the system accepts.
    pub Mode { reads model::SystemMode: str = Mode { "enum": words(model::SystemMode::ALL, mode_word) }, "running, post_only, cancel_only or paused", find(model::SystemMode::ALL, mode_word), written(mode_word); }
    /// Role of an operator.
    pub Role {
        reads model::OperatorRole: str = Role { "enum": words(model::OperatorRole::ALL, role_word) }, "admin, markets, resolver, cashier, support or read-only",
            |text: &str| find(model::OperatorRole::ALL, role_word)(text).filter(|role| *role != model::OperatorRole::Sync), written(role_word);
    }
    /// Start of a page.
    pub PageStart { reads Cursor: str { "pattern": "^[A-Za-z0-9+/=]*$" }, "a cursor" => InvalidCursor, |text| Cursor::parse(Some(text)).ok(); }
    /// What an acknowledged command outlives.
    pub Durability { writes [Display] = Durability { "enum": ["disk", "process", "none", "unknown"] }, shown; }

    /// An idempotency reference.
    pub Reference { reads String: str { "minLength": 1, "maxLength": 64, "pattern": SHOWN }, "a text of 1 to 64 printable characters", |text: &str| is_reference(text).then(|| text.to_owned()), String::as_str; }
    /// Why an operator sent a command.
    pub ReasonText { reads String: str { "maxLength": MAX_REASON_CHARS, "pattern": SHOWN }, "a text of at most 256 characters without controls, also of direction", reason; }
    /// On or off.
    pub Flag { reads bool: bool, "true or false", |flag: &bool| Some(*flag), bool::clone; }
    /// On or off in a query.
    pub FlagText { reads bool: str { "type": "boolean" }, "true, false, 1 or 0", flag; }
}

/// Python writes `True` and `False`.
fn flag(text: &str) -> Option<bool> {
    match text {
        "true" | "True" | "1" => Some(true),
        "false" | "False" | "0" => Some(false),
        _ => None,
    }
}

/// Whether a text may be a reference.
pub(crate) fn is_reference(text: &str) -> bool {
    (1..=64).contains(&text.chars().count()) && text.chars().all(is_printable)
}

fn any_side(text: &str) -> Option<model::Side> {
    let mut sides = model::Side::ALL.iter().copied();
    sides.find(|side| side_text(*side).eq_ignore_ascii_case(text))
}

fn reason(text: &str) -> Option<String> {
    let is_reason = ActEvidence::is_reason(text) && !text.chars().any(is_direction_control);
    is_reason.then(|| text.to_owned())
}

/// Any text.
pub(crate) fn any_text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Reads the value with a word.
pub(crate) fn find<T: Copy>(all: &[T], word: fn(T) -> &'static str) -> impl Fn(&str) -> Option<T> {
    move |text| all.iter().copied().find(|value| word(*value) == text)
}

/// Writes the word of a value.
pub(crate) fn written<T: Copy>(word: fn(T) -> &'static str) -> impl Fn(&T) -> &'static str {
    move |value| word(*value)
}

/// How each of some values is written.
#[cfg(feature = "documents")]
pub(crate) fn words<T: Copy, W>(values: &[T], word: impl Fn(T) -> W) -> Vec<W> {
    values.iter().map(|value| word(*value)).collect()
}

struct OrEmpty(Option<Price>);

impl Display for OrEmpty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |price| Decimal::from(price).fmt(f))
    }
}

fn shown<T: Display + ?Sized>(value: &T) -> Text<&T> {
    Text(value)
}

fn text<T: Copy + Into<Decimal>>(value: &T) -> Text<Decimal> {
    Text((*value).into())
}

/// The digits of the text, as a JSON number.
fn number<T: Copy + Into<Decimal>>(value: &T) -> Number {
    Number((*value).into())
}
