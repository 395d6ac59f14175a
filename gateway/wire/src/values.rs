//! Values of the JSON: how each is read from bodies, queries and paths, how it is written in answers,
//! and its JSON schema. A value is a row of a table of [`values!`](crate::values!). Rows that pages share
//! are declared in `table.rs`, the others beside the request that has them.
//!
//! A row is used by its name: by a field as `#[serde(with = "…")]`, also within [`Optional`],
//! [`OrDefault`], [`Filled`] and [`Each`]; by a query as a form of its parameters
//! ([`crate::read::query::text_form`]); by a path as the schema of a
//! [`PathParameter`](crate::read::path::PathParameter).

mod adapters;
mod json;
#[cfg(feature = "documents")]
pub mod schema;
mod table;

use serde::de::{Deserializer, Error};
use serde::ser::Serializer;

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;

pub use self::adapters::{Each, Filled, Item, Optional, OrDefault};
pub(crate) use self::json::{JsonValue, Scalar, ScalarVisitor};
pub use self::json::{Text, Uint};
pub use self::table::*;

/// A value that is read from one JSON value, mostly a text.
pub trait Readable {
    /// The value.
    type Value;
    /// The JSON value.
    type Json: JsonValue + ?Sized;
    /// What is allowed, for errors.
    const ALLOWED: &'static str;
    /// The error of a JSON value of the right type that is not allowed, where its text is fixed.
    const REFUSED: Option<ErrorCode> = None;
    /// The error of any other JSON value, and of none, where its text is fixed.
    const MISSING: Option<ErrorCode> = None;

    /// Reads a JSON value; `None` when it is not allowed.
    fn read(json: &Self::Json) -> Option<Self::Value>;

    /// Reads the text of a field.
    ///
    /// # Errors
    /// The error of a body with this text in this field.
    fn parse(field: &'static str, text: &str) -> Result<Self::Value, ApiError>
    where
        Self: Readable<Json = str>,
    {
        Self::read(text).ok_or_else(|| FieldError::wrong(field, text, Self::ALLOWED).into())
    }
}

/// A value of a body: a [`Readable`], or one that consists of others.
pub trait Deserializable {
    /// The value.
    type Value;

    /// Reads the value.
    ///
    /// # Errors
    /// What is allowed, or the error's fixed text.
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error>;
}

impl<V: Readable> Deserializable for V {
    type Value = V::Value;

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<V::Value, D::Error> {
        let wrong =
            |code: Option<ErrorCode>| D::Error::custom(code.map_or(V::ALLOWED, ErrorCode::text));
        let value = V::Json::read(deserializer, V::read).map_err(|_| wrong(V::MISSING))?;
        value.ok_or_else(|| wrong(V::REFUSED))
    }
}

/// A value that is written.
pub trait Writable<T> {
    /// Writes the value.
    ///
    /// # Errors
    /// Those of the serializer.
    fn serialize<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error>;
}

/// Declares values. A row has a part for reading, one for writing, or both:
///
/// ```text
/// /// Description in the documents.
/// Name {
///     reads Value: Json SCHEMA, allowed => Refused | Missing, function, function that writes it;
///     writes [bounds of what is written] SCHEMA, function;
/// }
/// ```
/// The function of `reads` makes an `Option<Value>` of a `&Json`; `allowed` is what errors say, unless
/// their text is that of a code: `Refused` for a wrong value, `Missing` for another type of JSON. The
/// function of `writes` makes something that serde serializes.
///
/// A SCHEMA is `as Row` for that of another row; `= Component` for one that the documents name, else it
/// stands where it is used; `{ … }` for keywords beside those of `Json`, or of a text when written.
/// Without any it is that of `Json`, and what is written has the schema of what is read.
#[macro_export]
macro_rules! values {
    ($($(#[doc = $doc:literal])* $vis:vis $name:ident {
        $(reads $value:ty: $json:ty $(as $like:ident)? $(= $component:ident)? $({ $($keyword:tt)+ })?,
            $allowed:expr $(=> $refused:ident $(| $missing:ident)?)?, $read:expr $(, $back:expr)?;)?
        $(writes [$($of:tt)+] $(as $out_like:ident)? $(= $out_component:ident)? $({ $($out_keyword:tt)+ })?, $write:expr;)?
    })+) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $name;

        $(impl $crate::values::Readable for $name {
            type Value = $value;
            type Json = $json;
            const ALLOWED: &'static str = $allowed;
            $(const REFUSED: Option<$crate::ErrorCode> = Some($crate::ErrorCode::$refused);
            $(const MISSING: Option<$crate::ErrorCode> = Some($crate::ErrorCode::$missing);)?)?

            fn read(json: &$json) -> Option<$value> {
                $read(json)
            }
        }
        $crate::for_serde!(reads $vis $name);
        $($crate::values!(@writes $vis $name, [core::borrow::Borrow<$value>], $back);)?)?

        $($crate::values!(@writes $vis $name, [$($of)+], $write);)?

        $crate::for_serde!(schema $name);

        #[cfg(feature = "documents")]
        impl $crate::values::schema::Schemas for $name {
            const DESCRIPTION: &'static str = concat!($($doc),*).trim_ascii();
            const READ: &'static [$crate::values::schema::Maker] = &[$(|generator| {
                $crate::values!(@schema READ of_json::<$json>, generator,
                    $(as $like)? $(= $component)? $({ $($keyword)+ })?)
            })?];
            const WRITTEN: &'static [$crate::values::schema::Maker] = &[$(|generator| {
                $crate::values!(@schema WRITTEN of_text, generator,
                    $(as $out_like)? $(= $out_component)? $({ $($out_keyword)+ })?)
            })?];
        }
    )+};
    (@writes $vis:vis $name:ident, [$($of:tt)+], $write:expr) => {
        impl<T: $($of)+> $crate::values::Writable<T> for $name {
            fn serialize<S: serde::Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
                serde::Serialize::serialize(&$write(core::borrow::Borrow::borrow(value)), serializer)
            }
        }
        $crate::for_serde!(writes $vis $name);
    };
    (@schema WRITTEN of_text, $generator:ident,) => { Self::when_read($generator) };
    (@schema $part:ident $base:expr, $generator:ident,
        $(as $like:ident)? $(= $component:ident)? $({ $($keyword:tt)+ })?) => {{
        use $crate::values::schema::*;
        let bases: &[Maker] = &[$(<$like as Schemas>::$part[0],)? $base];
        let schema = bases[0]($generator);
        $(let schema = with_keywords(schema, json_schema!({ $($keyword)+ }));)?
        $(let schema = component($generator, stringify!($component), Self::DESCRIPTION, schema);)?
        schema
    }};
}
pub use values;

/// What serde and schemars call by the name of a value, as `with` does.
#[macro_export]
macro_rules! for_serde {
    (reads $vis:vis $name:ident $(<$of:ident>)?) => {
        // Some are read as a part of others alone.
        #[allow(dead_code)]
        impl $(<$of>)? $name $(<$of>)? {
            /// Reads the value.
            ///
            /// # Errors
            /// What is allowed, or the error's fixed text.
            $vis fn deserialize<'de, D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<<Self as $crate::values::Deserializable>::Value, D::Error>
            $(where Self: $crate::values::Deserializable, $of: Sized)?
            {
                <Self as $crate::values::Deserializable>::deserialize(deserializer)
            }
        }
    };
    (writes $vis:vis $name:ident $(<$of:ident>)?) => {
        #[allow(dead_code)]
        impl $(<$of>)? $name $(<$of>)? {
            /// Writes the value.
            ///
            /// # Errors
            /// Those of the serializer.
            $vis fn serialize<T, S: serde::Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
            where
                Self: $crate::values::Writable<T>,
            {
                <Self as $crate::values::Writable<T>>::serialize(value, serializer)
            }
        }
    };
    (schema $name:ident $(<$of:ident>)?) => {
        #[cfg(feature = "documents")]
        impl $(<$of: $crate::schema::JsonSchema>)? $crate::schema::JsonSchema for $name $(<$of>)? {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                core::any::type_name::<Self>().into()
            }

            fn json_schema(generator: &mut $crate::schema::SchemaGenerator) -> $crate::schema::Schema {
                use $crate::values::schema::Schemas;
                match generator.contract().is_serialize() {
                    true => <Self as Schemas>::when_written(generator),
                    false => <Self as Schemas>::when_read(generator),
                }
            }

            fn _schemars_private_is_option() -> bool {
                <Self as $crate::values::schema::Schemas>::IS_OPTIONAL
            }
        }
    };
}
pub use for_serde;

/// Takes serde's functions of a `remote` type as those of a value.
macro_rules! remote {
    ($name:ident: $value:ty) => {
        impl $crate::values::Deserializable for $name {
            type Value = $value;

            fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$value, D::Error> {
                Self::deserialize(deserializer)
            }
        }

        impl $crate::values::Writable<$value> for $name {
            fn serialize<S: Serializer>(value: &$value, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(value, serializer)
            }
        }
    };
}
pub(crate) use remote;
