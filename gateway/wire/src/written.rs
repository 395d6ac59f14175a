//! How values of answers are written, and the JSON schema of the text or number. A field names one
//! with `#[serde(with = "…")]`.

use core::borrow::Borrow;
use core::fmt::Display;
use std::borrow::Cow;

use foretell_model::{
    self as model, ApiKey, MarketState, OperatorRole, Outcome, Price, SystemMode, Tick, TimeNs,
    TokenId,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serializer;

use crate::errors::rejection::{role_word, state_word};
use crate::operator::mode_word;
use crate::orders::order::{order_type_text, side_text};
use crate::text::decimal::{self, Decimal, Number};
use crate::text::{ids, time};

/// Declares forms: what they write, the schema, and the function of `serialize_with`.
macro_rules! written {
    ($($(#[doc = $doc:literal])+ $name:ident of [$($of:tt)+] = $schema:tt by $write:expr;)+) => {$(
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

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
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
    Address of [Display] = { "type": "string", "pattern": "^0x[0-9a-f]{40}$" } by ids::shown;
    /// 32 bytes.
    Hash of [Display] = { "type": "string", "pattern": "^0x[0-9a-f]{64}$" } by ids::shown;
    /// 32 bytes.
    Bytes of [Borrow<[u8; 32]>] = { "type": "string", "pattern": "^0x[0-9a-f]{64}$" } by ids::hex_as_text;
    /// Token id: `<condition id>:<outcome index>`, or decimal, as the exchange is configured.
    ConfiguredToken of [Display] = { "type": "string", "pattern": "^(0x[0-9a-f]{64}:[01]|[0-9]{1,78})$" } by ids::shown;
    /// 0: the first outcome, 1: the second.
    OutcomeIndex of [Borrow<Outcome>] = { "type": "integer", "enum": [0, 1] }
        by |outcome: &Outcome, serializer: S| serializer.serialize_u8(outcome.code());
    /// Token id, decimal.
    Token of [Borrow<TokenId>] = { "type": "string", "pattern": "^[0-9]{1,78}$" } by ids::token_as_text;
    /// An API key.
    Key of [Borrow<ApiKey>] = { "type": "string", "format": "uuid" } by ids::key_as_text;
    /// A number in decimal digits.
    Digits of [Display] = { "type": "string", "pattern": "^[0-9]+$" } by ids::shown;
    /// A decimal in whole units, shortest form; may be negative.
    DecimalText of [Copy + Into<Decimal>] = { "type": "string", "pattern": "^-?(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$" } by decimal::as_text;
    /// A time in ISO 8601.
    Iso of [Borrow<TimeNs>] = { "type": "string", "format": "date-time" } by time::as_iso;
    /// Unix seconds.
    Seconds of [Borrow<TimeNs>] = { "type": "integer", "minimum": 0 } by time::as_seconds;

    /// A decimal in whole units, shortest form.
    Amount of [Copy + Into<Decimal>] = { "type": "string", "pattern": "^(0|[1-9][0-9]*)(\\.[0-9]*[1-9])?$" } by decimal::as_text;
    /// A decimal in whole units, shortest form; empty when undefined.
    AmountOrEmpty of [Borrow<Option<Price>>] = { "type": "string", "pattern": "^((0|[1-9][0-9]*)(\\.[0-9]*[1-9])?)?$" } by decimal::as_text_or_empty;
    /// A price or a rate.
    Fraction of [Copy + Into<Decimal>] = { "type": "number", "minimum": 0, "maximum": 1 } by decimal::as_number;
    /// A number of shares.
    Shares of [Copy + Into<Decimal>] = { "type": "number", "exclusiveMinimum": 0 } by decimal::as_number;
    /// A tick.
    TickNumber of [Borrow<Tick>] = { "type": "number", "enum": words(Tick::ALL, Number::from) } by decimal::as_number;
    /// A tick.
    TickText of [Borrow<Tick>] = { "type": "string", "enum": words(Tick::ALL, Tick::text) } by |tick: &Tick, serializer| word(tick.text(), serializer);
    /// Token id: `<condition id>:<outcome index>`.
    Asset of [Display] = { "type": "string", "pattern": "^0x[0-9a-f]{64}:[01]$" } by ids::shown;
    /// Side of an order.
    Side of [Borrow<model::Side>] = { "type": "string", "enum": words(model::Side::ALL, side_text) } by |side: &model::Side, serializer| word(side_text(*side), serializer);
    /// Type of an order.
    OrderType of [Borrow<model::OrderType>] = { "type": "string", "enum": words(model::OrderType::ALL, order_type_text) } by |it: &model::OrderType, serializer| word(order_type_text(*it), serializer);
    /// State of a market.
    State of [Borrow<MarketState>] = { "type": "string", "enum": words(MarketState::ALL, state_word) } by |state: &MarketState, serializer| word(state_word(*state), serializer);
    /// Which commands the system accepts.
    Mode of [Borrow<SystemMode>] = { "type": "string", "enum": words(SystemMode::ALL, mode_word) } by |mode: &SystemMode, serializer| word(mode_word(*mode), serializer);
    /// Role of an operator.
    Role of [Borrow<OperatorRole>] = { "type": "string", "enum": words(OperatorRole::ALL, role_word) } by |role: &OperatorRole, serializer| word(role_word(*role), serializer);
    /// What an acknowledged command outlives.
    Durability of [Display] = { "type": "string", "enum": ["disk", "process", "none", "unknown"] } by ids::shown;
    /// A UTC day.
    Day of [Display] = { "type": "string", "format": "date" } by ids::shown;
}

/// How each of some values is written.
pub(crate) fn words<T: Copy, W>(values: &[T], word: impl Fn(T) -> W) -> Vec<W> {
    values.iter().map(|value| word(*value)).collect()
}

fn word<S: Serializer>(word: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(word)
}
