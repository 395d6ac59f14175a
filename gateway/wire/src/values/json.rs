//! The JSON values that values are read from, and written as.

use core::fmt::{self, Display};

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::text::decimal::uint256;

/// What is written as the text that it displays.
#[derive(Debug)]
pub struct Text<T>(pub T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// A JSON value that a value is read from.
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
pub struct Uint(pub [u8; 32]);

impl Uint {
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

impl From<u64> for Uint {
    fn from(number: u64) -> Self {
        let mut word = [0; 32];
        word[24..].copy_from_slice(&number.to_be_bytes());
        Self(word)
    }
}

impl<'de> Deserialize<'de> for Uint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = |scalar: Scalar<'_>| match scalar {
            Scalar::Text(text) => uint256(text).ok().map(Self),
            Scalar::Whole(number) => Some(number.into()),
        };
        deserializer.deserialize_u128(ScalarVisitor(digits))
    }
}
