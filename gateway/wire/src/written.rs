//! How values of answers are written, and the JSON schema of the text or number. A field names one
//! with `#[serde(with = "…")]`.

use core::borrow::Borrow;
use core::fmt::Display;
use std::borrow::Cow;

use foretell_model::{ApiKey, Outcome, TimeNs, TokenId};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serializer;

use crate::text::decimal::{self, Decimal};
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
    Asset of [Display] = { "type": "string", "pattern": "^(0x[0-9a-f]{64}:[01]|[0-9]{1,78})$" } by ids::shown;
    /// 0: the first outcome, 1: the second.
    OutcomeIndex of [Borrow<Outcome>] = { "type": "integer", "enum": [0, 1] }
        by |outcome: &Outcome, serializer: S| serializer.serialize_u8(outcome.code());
    /// Token id, decimal.
    Token of [Borrow<TokenId>] = { "type": "string", "pattern": "^[0-9]{1,78}$" } by ids::token_as_text;
    /// An API key.
    Key of [Borrow<ApiKey>] = { "type": "string", "format": "uuid" } by ids::key_as_text;
    /// A number in decimal digits.
    Digits of [Display] = { "type": "string", "pattern": "^[0-9]+$" } by ids::shown;
    /// A decimal number as text.
    DecimalText of [Copy + Into<Decimal>] = { "type": "string", "pattern": "^-?[0-9]+(\\.[0-9]+)?$" } by decimal::as_text;
    /// A time in ISO 8601.
    Iso of [Borrow<TimeNs>] = { "type": "string", "format": "date-time" } by time::as_iso;
    /// Unix seconds.
    Seconds of [Borrow<TimeNs>] = { "type": "integer", "minimum": 0 } by time::as_seconds;
}
