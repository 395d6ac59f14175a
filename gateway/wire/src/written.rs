//! How values of answers are written, and the JSON schema of the text or number. A field names one
//! with `#[serde(with = "…")]`. How values of bodies are read: [`crate::read::form`]; of queries:
//! [`crate::read::query::text_form`].

use core::borrow::Borrow;
use core::fmt::Display;

use foretell_model::{
    self as model, ApiKey, MarketState, OperatorRole, Outcome, Price, SystemMode, Tick, TimeMs,
    TimeNs, TokenId,
};
use serde::{Serialize as _, Serializer};

#[cfg(feature = "documents")]
use crate::schema::{JsonSchema, Schema, SchemaGenerator, json_schema};
use crate::text::decimal::{Decimal, Number};
use crate::text::words::{mode_word, order_type_text, role_word, side_text, state_word};
use crate::text::{ids, time};

/// Declares forms: what they write, the schema (`named` where another form has it, too), and the
/// function of `serialize_with`.
macro_rules! written {
    ($($(#[doc = $doc:literal])+ $name:ident $(named $schema_name:ident)? of [$($of:tt)+] = $schema:tt by $write:expr;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug)]
        pub enum $name {}

        impl $name {
            /// Writes a value.
            ///
            /// # Errors
            /// Those of the serializer.
            pub fn serialize<T: $($of)+, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
                $write(value.borrow(), serializer)
            }
        }

        #[cfg(feature = "documents")]
        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                [$(stringify!($schema_name),)? stringify!($name)][0].into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = json_schema!($schema);
                schema.insert("description".into(), concat!($($doc),+).trim_ascii().into());
                schema
            }
        }
    )+};
}

written! {
    /// Address of a wallet.
    Address of [Display] = { "type": "string", "pattern": "^0x[0-9a-f]{40}$" } by shown;
    /// 32 bytes.
    Hash of [Display] = { "type": "string", "pattern": "^0x[0-9a-f]{64}$" } by shown;
    /// 32 bytes.
    Bytes named Hash of [Borrow<[u8; 32]>] = { "type": "string", "pattern": "^0x[0-9a-f]{64}$" } by |bytes: &[u8; 32], serializer| shown(&ids::hex_text(bytes), serializer);
    /// Token id: `<condition id>:<outcome index>`, or decimal, as the exchange is configured.
    ConfiguredToken of [Display] = { "type": "string", "pattern": "^(0x[0-9a-f]{64}:[01]|[0-9]{1,78})$" } by shown;
    /// 0: the first outcome, 1: the second.
    OutcomeIndex of [Borrow<Outcome>] = { "type": "integer", "enum": [0, 1] }
        by |outcome: &Outcome, serializer: S| serializer.serialize_u8(outcome.code());
    /// Token id, decimal.
    Token of [Borrow<TokenId>] = { "type": "string", "pattern": "^[0-9]{1,78}$" } by |token: &TokenId, serializer| shown(&ids::token_text(token), serializer);
    /// An API key.
    Key of [Borrow<ApiKey>] = { "type": "string", "format": "uuid" } by |key: &ApiKey, serializer| shown(&ids::api_key_text(key), serializer);
    /// A number in decimal digits.
    Digits of [Display] = { "type": "string", "pattern": "^[0-9]+$" } by shown;
    /// Unix milliseconds, in digits.
    Millis of [Borrow<TimeMs>] = { "type": "string", "pattern": "^[0-9]+$" } by |time: &TimeMs, serializer| shown(&time.0, serializer);
    /// A decimal in whole units, shortest form; may be negative.
    DecimalText of [Copy + Into<Decimal>] = { "type": "string", "pattern": "^-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$" } by text;
    /// A time in ISO 8601.
    Iso of [Borrow<TimeNs>] = { "type": "string", "format": "date-time" } by |time: &TimeNs, serializer| shown(&time::iso(*time), serializer);
    /// A time in ISO 8601.
    IsoOrNothing named Iso of [Borrow<Option<TimeNs>>] = { "type": "string", "format": "date-time" }
        by |time: &Option<TimeNs>, serializer| time.map(time::iso).serialize(serializer);
    /// Unix seconds.
    Seconds of [Borrow<TimeNs>] = { "type": "integer", "minimum": 0 } by |time: &TimeNs, serializer: S| serializer.serialize_u64(time.seconds().0);

    /// A decimal in whole units, shortest form.
    Amount of [Copy + Into<Decimal>] = { "type": "string", "pattern": "^(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$" } by text;
    /// A decimal in whole units, shortest form; empty when undefined.
    AmountOrEmpty of [Borrow<Option<Price>>] = { "type": "string", "pattern": "^((0|[1-9][0-9]*)(\\.[0-9]*[1-9])?)?$" } by |price: &Option<Price>, serializer| match price {
        Some(price) => text(price, serializer),
        None => shown("", serializer),
    };
    /// A price or a rate.
    Fraction of [Copy + Into<Decimal>] = { "type": "number", "minimum": 0, "maximum": 1 } by number;
    /// A number of shares.
    Shares of [Copy + Into<Decimal>] = { "type": "number", "exclusiveMinimum": 0 } by number;
    /// A tick.
    TickNumber of [Borrow<Tick>] = { "type": "number", "enum": words(Tick::ALL, Number::from) } by number;
    /// A tick.
    TickText of [Borrow<Tick>] = { "type": "string", "enum": words(Tick::ALL, Tick::text) } by |tick: &Tick, serializer| shown(tick.text(), serializer);
    /// Token id: `<condition id>:<outcome index>`.
    Asset of [Display] = { "type": "string", "pattern": "^0x[0-9a-f]{64}:[01]$" } by shown;
    /// Side of an order.
    Side of [Borrow<model::Side>] = { "type": "string", "enum": words(model::Side::ALL, side_text) } by |side: &model::Side, serializer| shown(side_text(*side), serializer);
    /// Side of an order; empty when undefined.
    SideOrEmpty of [Borrow<Option<model::Side>>] = { "type": "string", "enum": ["BUY", "SELL", ""] } by |side: &Option<model::Side>, serializer| shown(side.map_or("", side_text), serializer);
    /// Type of an order.
    OrderType of [Borrow<model::OrderType>] = { "type": "string", "enum": words(model::OrderType::ALL, order_type_text) } by |it: &model::OrderType, serializer| shown(order_type_text(*it), serializer);
    /// State of a market.
    State of [Borrow<MarketState>] = { "type": "string", "enum": words(MarketState::ALL, state_word) } by |state: &MarketState, serializer| shown(state_word(*state), serializer);
    /// Which commands the system accepts.
    Mode of [Borrow<SystemMode>] = { "type": "string", "enum": words(SystemMode::ALL, mode_word) } by |mode: &SystemMode, serializer| shown(mode_word(*mode), serializer);
    /// Role of an operator.
    Role of [Borrow<OperatorRole>] = { "type": "string", "enum": words(OperatorRole::ALL, role_word) } by |role: &OperatorRole, serializer| shown(role_word(*role), serializer);
    /// What an acknowledged command outlives.
    Durability of [Display] = { "type": "string", "enum": ["disk", "process", "none", "unknown"] } by shown;
    /// A UTC day.
    Day of [Display] = { "type": "string", "format": "date" } by shown;
}

/// How each of some values is written.
#[cfg(feature = "documents")]
pub(crate) fn words<T: Copy, W>(values: &[T], word: impl Fn(T) -> W) -> Vec<W> {
    values.iter().map(|value| word(*value)).collect()
}

fn shown<S: Serializer>(value: &(impl Display + ?Sized), serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn text<T: Copy + Into<Decimal>, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&(*value).into())
}

/// The digits of the text, as a JSON number.
fn number<T: Copy + Into<Decimal>, S: Serializer>(
    value: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    Number((*value).into()).serialize(serializer)
}
