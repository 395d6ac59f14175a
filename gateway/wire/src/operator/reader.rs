//! Reads a body into a request: a serde deserializer of an object that rejects unknown fields and
//! names the field, the value and what is allowed.

use core::fmt::Display;
use std::collections::HashMap;

use serde::de::value::SeqDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

use crate::errors::api_error::{ApiError, quoted};
use crate::errors::error_code::ErrorCode;
use crate::limits::OPERATOR_BODY_BYTES;
use crate::read::body::object;
use crate::read::json::{Number, Object, Value};
use crate::text::printable::is_direction_control;
use foretell_model::evidence::ActEvidence;

/// The field that every body may have beside its own.
const REASON: &str = "reason";

/// Reads the body of a request.
///
/// # Errors
/// A field that is missing, wrong or unknown; the first in the order of the request's fields.
pub fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    let mut copy = Vec::new();
    Body::new(body, &mut copy)?.read_part(&[], T::deserialize)
}

/// The reason of the command: the field `reason` of any body; empty without one.
///
/// # Errors
/// It is no text, is longer than 256 characters, or has a control character, also of direction.
pub fn read_reason(body: &[u8]) -> Result<String, ApiError> {
    const ALLOWED: &str = "a text of at most 256 characters without controls, also of direction";
    let mut copy = Vec::new();
    let body = Body::new(body, &mut copy)?;
    let Value::Object(object) = &body.object else {
        return Ok(String::new());
    };
    match object.get(REASON) {
        Value::Null => Ok(String::new()),
        Value::Text(text)
            if ActEvidence::is_reason(text) && !text.chars().any(is_direction_control) =>
        {
            Ok(text.to_string())
        }
        other => Err(Wrong::custom(ALLOWED).in_field(REASON, other)),
    }
}

/// A body that is one object.
pub(crate) struct Body<'b> {
    object: Value<'b>,
    text: &'b [u8],
}

impl<'b> Body<'b> {
    /// Parses a body; `copy` is scratch memory.
    pub(crate) fn new(text: &'b [u8], copy: &'b mut Vec<u8>) -> Result<Self, ApiError> {
        let object = Value::Object(object(text, OPERATOR_BODY_BYTES, copy)?);
        Ok(Self { object, text })
    }

    /// Reads a part of the object with serde's function of a type. `known` are the fields of all
    /// parts; empty when there is one part.
    pub(crate) fn read_part<'s, T>(
        &'s self,
        known: &'static [&'static str],
        read: impl FnOnce(ValueReader<'s>) -> Result<T, Wrong>,
    ) -> Result<T, ApiError> {
        let reader = ValueReader {
            value: &self.object,
            body: self.text,
            field: "",
            known,
        };
        read(reader).map_err(|wrong| wrong.in_field("body", &self.object))
    }
}

/// Why a value was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Wrong {
    /// Of the value that is being read: what is allowed in its place.
    #[error("{0}")]
    Value(String),
    /// The error of the whole body.
    #[error(transparent)]
    Body(ApiError),
}

impl Wrong {
    fn in_field(self, field: &str, value: &Value<'_>) -> ApiError {
        match self {
            Self::Body(error) => error,
            Self::Value(allowed) => match value {
                Value::Null => {
                    let values = vec![field.to_owned(), allowed];
                    ApiError::new(ErrorCode::MissingField, values)
                }
                value => {
                    let values = vec![field.to_owned(), value.shown(), allowed];
                    ApiError::new(ErrorCode::InvalidField, values)
                }
            },
        }
    }
}

impl Error for Wrong {
    fn custom<T: Display>(allowed: T) -> Self {
        Self::Value(allowed.to_string())
    }
}

/// A value of a body.
#[derive(Clone, Copy)]
pub(crate) struct ValueReader<'de> {
    value: &'de Value<'de>,
    /// The whole body, which the parsed value keeps only the upper levels of.
    body: &'de [u8],
    field: &'static str,
    /// The known fields of an object that is read in parts.
    known: &'static [&'static str],
}

impl<'de> Deserializer<'de> for ValueReader<'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(Number::Whole(number)) => visitor.visit_u64(*number),
            Value::Text(text) => visitor.visit_str(text),
            Value::Array(elements) => {
                let elements = elements.iter().map(|value| Self { value, ..self });
                visitor.visit_seq(SeqDeserializer::new(elements))
            }
            Value::Number(_) | Value::Object(_) | Value::Deep => {
                Err(Wrong::custom("another value"))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let Value::Object(object) = self.value else {
            return Err(Wrong::custom("an object"));
        };
        if let Some(key) = object.duplicate() {
            return Err(Wrong::Body(ErrorCode::RepeatedJsonKey.with([&key])));
        }
        let known = if self.known.is_empty() {
            fields
        } else {
            self.known
        };
        reject_unknown(object, known, self.field.is_empty()).map_err(Wrong::Body)?;
        visitor.visit_map(FieldReader {
            object,
            body: self.body,
            fields: fields.iter(),
            field: "",
        })
    }

    /// A field whose object is kept as it is, to the last level.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let wrong = |_| Wrong::custom("an object");
        let fields: HashMap<String, &'de RawValue> =
            serde_json::from_slice(self.body).map_err(wrong)?;
        let Some(value) = fields.get(self.field) else {
            return Err(Wrong::custom("an object"));
        };
        serde_json::Deserializer::from_str(value.get())
            .deserialize_map(visitor)
            .map_err(wrong)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct enum identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, Wrong> for ValueReader<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Rejects a field of an object that is not `known`. The body itself may have a reason, too.
fn reject_unknown(object: &Object<'_>, known: &[&str], is_body: bool) -> Result<(), ApiError> {
    let is_known = |key: &str| known.contains(&key) || (is_body && key == REASON);
    match object.keys().find(|key| !is_known(key)) {
        None => Ok(()),
        Some(unknown) => Err(ErrorCode::InvalidContent.with([&(format!(
            "the field {} is unknown, allowed: {}",
            quoted(unknown),
            known.join(", ")
        ))])),
    }
}

/// The fields of a request in their order. A missing field is null, so that its form decides.
struct FieldReader<'de> {
    object: &'de Object<'de>,
    body: &'de [u8],
    fields: core::slice::Iter<'static, &'static str>,
    field: &'static str,
}

impl<'de> MapAccess<'de> for FieldReader<'de> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Wrong> {
        let Some(field) = self.fields.next() else {
            return Ok(None);
        };
        self.field = field;
        seed.deserialize((*field).into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let reader = ValueReader {
            value: self.object.get(self.field),
            body: self.body,
            field: self.field,
            known: &[],
        };
        seed.deserialize(reader)
            .map_err(|wrong| Wrong::Body(wrong.in_field(self.field, reader.value)))
    }
}
