//! Forms of the values in bodies: how a value is written, how it is read, and what an error names
//! as allowed. Serde's `with` takes a form by its name.

#[cfg(feature = "documents")]
mod schemas;

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::errors::api_error::{ApiError, FieldError};
use crate::text::decimal::uint256;

#[cfg(feature = "documents")]
pub(crate) use self::schemas::with_keywords;

/// How a value of a body is read.
pub(crate) trait Form {
    /// The value.
    type Value;
    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error>;
}

/// How a value of a body is written.
pub(crate) trait Written: Form {
    fn serialize<S: Serializer>(value: &Self::Value, serializer: S) -> Result<S::Ok, S::Error>;
}

/// A form that reads a single JSON value, mostly a text.
pub trait PlainForm {
    /// The value.
    type Value;
    /// The JSON value.
    type Json: JsonValue + ?Sized;
    /// What is allowed, for errors; or the fixed text of the error.
    const ALLOWED: &'static str;
    /// [`Self::ALLOWED`] where the JSON value has the right type.
    const REFUSED: &'static str = Self::ALLOWED;

    /// Reads a JSON value; `None` when it is not allowed.
    fn read(json: &Self::Json) -> Option<Self::Value>;

    /// Reads the text of a field.
    ///
    /// # Errors
    /// The error of a body with this text in this field.
    fn parse(field: &'static str, text: &str) -> Result<Self::Value, ApiError>
    where
        Self: PlainForm<Json = str>,
    {
        Self::read(text).ok_or_else(|| FieldError::wrong(field, text, Self::ALLOWED).into())
    }
}

/// A [`PlainForm`] that is written, too.
pub trait WrittenForm: PlainForm<Json: ToOwned<Owned: Serialize>> {
    /// Writes a value.
    fn json(value: &Self::Value) -> <Self::Json as ToOwned>::Owned;
}

impl<F: PlainForm> Form for F {
    type Value = F::Value;

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<F::Value, D::Error> {
        let value = F::Json::read(deserializer, F::read);
        let value = value.map_err(|_| D::Error::custom(F::ALLOWED))?;
        value.ok_or_else(|| D::Error::custom(F::REFUSED))
    }
}

impl<F: WrittenForm> Written for F {
    fn serialize<S: Serializer>(value: &F::Value, serializer: S) -> Result<S::Ok, S::Error> {
        F::json(value).serialize(serializer)
    }
}

/// A JSON value that a form is read from.
pub trait JsonValue: ToOwned {
    /// Reads the value with `read`.
    ///
    /// # Errors
    /// It has another type.
    fn read<'de, D: Deserializer<'de>, T>(
        deserializer: D,
        read: impl FnOnce(&Self) -> Option<T>,
    ) -> Result<Option<T>, D::Error>;
}

impl<J: DeserializeOwned + Clone> JsonValue for J {
    fn read<'de, D: Deserializer<'de>, T>(
        deserializer: D,
        read: impl FnOnce(&Self) -> Option<T>,
    ) -> Result<Option<T>, D::Error> {
        J::deserialize(deserializer).map(|json| read(&json))
    }
}

impl JsonValue for str {
    fn read<'de, D: Deserializer<'de>, T>(
        deserializer: D,
        read: impl FnOnce(&Self) -> Option<T>,
    ) -> Result<Option<T>, D::Error> {
        let text = |text: Scalar<'_>| match text {
            Scalar::Text(text) => Some(read(text)),
            _ => None,
        };
        deserializer.deserialize_str(ScalarVisitor(text))
    }
}

/// A text or a number.
pub(crate) enum Scalar<'t> {
    Text(&'t str),
    Whole(u64),
}

/// Reads a scalar without a copy of its text; a value that is not allowed is `None`.
pub(crate) struct ScalarVisitor<R>(pub(crate) R);

impl<T, R: FnOnce(Scalar<'_>) -> Option<T>> ScalarVisitor<R> {
    fn read<E: Error>(self, scalar: Scalar<'_>) -> Result<T, E> {
        (self.0)(scalar).ok_or_else(|| E::custom("another text or number"))
    }
}

impl<T, R: FnOnce(Scalar<'_>) -> Option<T>> Visitor<'_> for ScalarVisitor<R> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a number")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        self.read(Scalar::Text(text))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        self.read(Scalar::Whole(number))
    }
}

/// A whole number of at most 256 bits, as number or as digits: its big-endian word.
#[derive(Clone, Copy, Debug)]
pub struct Digits(pub [u8; 32]);

impl Digits {
    /// The number, if it has 64 bits.
    #[must_use]
    pub fn to_u64(&self) -> Option<u64> {
        u64::try_from(self.to_u128()?).ok()
    }

    /// The number, if it has 128 bits.
    #[must_use]
    pub fn to_u128(&self) -> Option<u128> {
        let (high, low) = self.0.split_at(16);
        let low = u128::from_be_bytes(low.try_into().ok()?);
        (high == [0; 16]).then_some(low)
    }
}

impl From<u64> for Digits {
    fn from(number: u64) -> Self {
        let mut word = [0; 32];
        word[24..].copy_from_slice(&number.to_be_bytes());
        Self(word)
    }
}

impl<'de> Deserialize<'de> for Digits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = |scalar: Scalar<'_>| match scalar {
            Scalar::Text(text) => uint256(text).ok().map(Self),
            Scalar::Whole(number) => Some(number.into()),
        };
        deserializer.deserialize_u128(ScalarVisitor(digits))
    }
}

/// Declares forms: the value, its JSON type, what is allowed (`=>` what is said of a value of the
/// right type that is not allowed), how it is read and, if it is, written.
///
/// Its JSON schema is that of the JSON type, or of a type `as` which it is read (`|` and written),
/// `=` with more keywords.
macro_rules! forms {
    (@schema $generator:ident, $json:ty) => { $generator.subschema_for::<$json>() };
    (@schema $generator:ident, $json:ty, $read:ty) => { $generator.subschema_for::<$read>() };
    (@schema $generator:ident, $json:ty, $read:ty, $written:ty) => {
        match $generator.contract().is_serialize() {
            true => $generator.subschema_for::<$written>(),
            false => $generator.subschema_for::<$read>(),
        }
    };
    ($($(#[$meta:meta])* $vis:vis $name:ident(
        $value:ty, $json:ty $(as $like:ty $(| $written:ty)?)? $(= $keywords:tt)?
    ): $allowed:expr $(=> $refused:expr)?, $read:expr $(, $write:expr)?;)+) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        $vis enum $name {}

        impl $crate::read::form::PlainForm for $name {
            type Value = $value;
            type Json = $json;
            const ALLOWED: &'static str = $allowed;
            $(const REFUSED: &'static str = $refused;)?

            fn read(json: &$json) -> Option<$value> {
                $read(json)
            }
        }

        #[cfg(feature = "documents")]
        impl $crate::schema::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut $crate::schema::SchemaGenerator) -> $crate::schema::Schema {
                let schema = $crate::read::form::forms!(@schema generator, $json $(, $like $(, $written)?)?);
                $(let schema = $crate::read::form::with_keywords(schema, $crate::schema::json_schema!($keywords));)?
                schema
            }
        }

        $(impl $crate::read::form::WrittenForm for $name {
            fn json(value: &$value) -> <$json as ToOwned>::Owned {
                $write(value)
            }
        })?
    )+};
}
pub(crate) use forms;

/// A value in its form.
pub(crate) struct Formed<F: Form>(pub(crate) F::Value);

impl<'de, F: Form> Deserialize<'de> for Formed<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        F::deserialize(deserializer).map(Self)
    }
}

/// A value that may be absent or null.
pub(crate) struct Optional<F>(PhantomData<F>);

impl<F: Form> Form for Optional<F> {
    type Value = Option<F::Value>;

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error> {
        let value = Option::<Formed<F>>::deserialize(deserializer)?;
        Ok(value.map(|value| value.0))
    }
}

impl<F: Written> Written for Optional<F> {
    fn serialize<S: Serializer>(value: &Self::Value, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => F::serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }
}

/// A value that is its type's default when it is absent or null.
pub(crate) struct OrDefault<F>(PhantomData<F>);

impl<F: Form<Value: Default>> Form for OrDefault<F> {
    type Value = F::Value;

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error> {
        Optional::<F>::deserialize(deserializer).map(Option::unwrap_or_default)
    }
}

impl<F: Written<Value: Default>> Written for OrDefault<F> {
    fn serialize<S: Serializer>(value: &Self::Value, serializer: S) -> Result<S::Ok, S::Error> {
        F::serialize(value, serializer)
    }
}

/// A text that may be absent, null or empty.
pub(crate) struct Filled<F>(PhantomData<F>);

impl<F: PlainForm<Json = str>> PlainForm for Filled<F> {
    type Value = Option<F::Value>;
    type Json = str;
    const ALLOWED: &'static str = F::ALLOWED;
    const REFUSED: &'static str = F::REFUSED;

    fn read(text: &str) -> Option<Self::Value> {
        match text {
            "" => Some(None),
            text => F::read(text).map(Some),
        }
    }
}

/// An array of values.
pub(crate) struct Each<F>(PhantomData<F>);

impl<F: Form> Form for Each<F> {
    type Value = Vec<F::Value>;

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error> {
        let values = Vec::<Formed<F>>::deserialize(deserializer)?;
        Ok(values.into_iter().map(|value| value.0).collect())
    }
}

/// Serde's functions of a `remote` type as a form.
macro_rules! remote_forms {
    ($($name:ident($value:ty);)+) => {$(
        impl $crate::read::form::Form for $name {
            type Value = $value;

            fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<$value, D::Error> {
                Self::deserialize(deserializer)
            }
        }

        impl $crate::read::form::Written for $name {
            fn serialize<S: Serializer>(value: &$value, serializer: S) -> Result<S::Ok, S::Error> {
                Self::serialize(value, serializer)
            }
        }
    )+};
}
pub(crate) use remote_forms;
