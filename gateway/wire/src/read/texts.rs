//! JSON schemas of texts that a client sends.

#[cfg(feature = "documents")]
use crate::schema::{JsonSchema, Schema, SchemaGenerator, json_schema};

macro_rules! texts {
    ($($(#[doc = $doc:literal])+ $name:ident = $pattern:literal;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug)]
        pub enum $name {}

        #[cfg(feature = "documents")]
        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let description = concat!($($doc),+).trim_ascii();
                json_schema!({ "type": "string", "pattern": $pattern, "description": description })
            }
        }
    )+};
}

texts! {
    /// Address of a wallet; case carries no meaning.
    AnyAddress = "^0x[0-9a-fA-F]{40}$";
    /// 32 bytes; case carries no meaning.
    AnyHash = "^0x[0-9a-fA-F]{64}$";
    /// BUY or SELL, in any case.
    AnySide = "^([bB][uU][yY]|[sS][eE][lL][lL])$";
    /// Token id: decimal, or `<condition id>:<outcome index>`.
    AnyToken = "^([0-9]{1,78}|0x[0-9a-fA-F]{64}:[01])$";
    /// Id of a trade, or its transaction hash.
    AnyTrade = "^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|0x[0-9a-fA-F]{64})$";
    /// Whole units, up to six decimals.
    AnyAmount = "^[0-9]{1,78}([.][0-9]{1,6})?$";
    /// Shares, up to two decimals.
    AnyShares = "^[0-9]{1,78}([.][0-9]{1,2})?$";
}
