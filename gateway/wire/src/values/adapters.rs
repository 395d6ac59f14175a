//! Values that consist of others.

use core::marker::PhantomData;

use serde::de::{Deserialize, Deserializer};
use serde::ser::Serializer;

use crate::errors::error_code::ErrorCode;
#[cfg(feature = "documents")]
use crate::schema::{JsonSchema, json_schema};
#[cfg(feature = "documents")]
use crate::values::schema::{Maker, Schemas};
use crate::values::{Deserializable, Readable, Writable, for_serde};

/// A value that serde reads by itself: an entry of an array.
#[derive(Debug)]
pub struct Item<V: Deserializable>(pub V::Value);

impl<'de, V: Deserializable> Deserialize<'de> for Item<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        V::deserialize(deserializer).map(Self)
    }
}

/// A value that may be absent or null.
#[derive(Debug)]
pub struct Optional<V>(PhantomData<V>);

for_serde!(reads pub Optional<V>);
for_serde!(writes pub Optional<V>);
for_serde!(schema Optional<V>);

impl<V: Deserializable> Deserializable for Optional<V> {
    type Value = Option<V::Value>;

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error> {
        let value = Option::<Item<V>>::deserialize(deserializer)?;
        Ok(value.map(|value| value.0))
    }
}

impl<T, V: Writable<T>> Writable<Option<T>> for Optional<V> {
    fn serialize<S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => V::serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }
}

/// A body may have null in place of a value; an answer has a value or leaves it out.
#[cfg(feature = "documents")]
impl<V: JsonSchema> Schemas for Optional<V> {
    const READ: &'static [Maker] = &[Option::<V>::json_schema];
    const WRITTEN: &'static [Maker] = &[V::json_schema];
    const IS_OPTIONAL: bool = true;
}

/// A value that is its type's default when it is absent or null.
#[derive(Debug)]
pub struct OrDefault<V>(PhantomData<V>);

for_serde!(reads pub OrDefault<V>);
for_serde!(writes pub OrDefault<V>);
for_serde!(schema OrDefault<V>);

impl<V: Deserializable<Value: Default>> Deserializable for OrDefault<V> {
    type Value = V::Value;

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error> {
        Optional::<V>::deserialize(deserializer).map(Option::unwrap_or_default)
    }
}

impl<T, V: Writable<T>> Writable<T> for OrDefault<V> {
    fn serialize<S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        V::serialize(value, serializer)
    }
}

#[cfg(feature = "documents")]
impl<V: JsonSchema> Schemas for OrDefault<V> {
    const READ: &'static [Maker] = Optional::<V>::READ;
    const WRITTEN: &'static [Maker] = Optional::<V>::WRITTEN;
    const IS_OPTIONAL: bool = true;
}

/// A text that may be absent, null or empty.
#[derive(Debug)]
pub struct Filled<V>(PhantomData<V>);

for_serde!(reads pub Filled<V>);
for_serde!(schema Filled<V>);

impl<V: Readable<Json = str>> Readable for Filled<V> {
    type Value = Option<V::Value>;
    type Json = str;
    const ALLOWED: &'static str = V::ALLOWED;
    const REFUSED: Option<ErrorCode> = V::REFUSED;
    const MISSING: Option<ErrorCode> = V::MISSING;

    fn read(text: &str) -> Option<Self::Value> {
        match text {
            "" => Some(None),
            text => V::read(text).map(Some),
        }
    }
}

#[cfg(feature = "documents")]
impl<V: JsonSchema> Schemas for Filled<V> {
    const READ: &'static [Maker] = &[
        |generator| json_schema!({ "anyOf": [generator.subschema_for::<V>(), { "type": "string", "maxLength": 0 }] }),
    ];
}

/// An array of values.
#[derive(Debug)]
pub struct Each<V>(PhantomData<V>);

for_serde!(reads pub Each<V>);
for_serde!(schema Each<V>);

impl<V: Deserializable> Deserializable for Each<V> {
    type Value = Vec<V::Value>;

    fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self::Value, D::Error> {
        let values = Vec::<Item<V>>::deserialize(deserializer)?;
        Ok(values.into_iter().map(|value| value.0).collect())
    }
}

#[cfg(feature = "documents")]
impl<V: JsonSchema> Schemas for Each<V> {
    const READ: &'static [Maker] = &[Vec::<V>::json_schema];
}
