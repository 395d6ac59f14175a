//! The values of a body as serde reads them: objects field by field, arrays entry by entry.

use core::fmt::Display;
use std::collections::HashMap;

use serde::de::{
    DeserializeSeed, Deserializer, Error, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;

use crate::errors::api_error::{ApiError, quoted};
use crate::errors::error_code::ErrorCode;
use crate::read::body::{Family, REASON};
use crate::read::json::{Number, Object, Value};

/// What the readers of a body's values share.
pub(super) struct Context<'b> {
    /// The whole body, which the parsed value keeps only the upper levels of.
    pub(super) body: &'b [u8],
    /// The fields of a body that is read in parts.
    pub(super) known: &'static [&'static str],
    pub(super) family: &'static Family,
}

impl Context<'_> {
    pub(super) const fn reader<'s>(&'s self, value: &'s Value<'s>) -> ValueReader<'s> {
        ValueReader {
            value,
            field: "",
            context: self,
        }
    }
}

/// Why a value was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Wrong {
    /// The value is not allowed; the text says what is.
    #[error("{0}")]
    Value(String),
    /// The error of the whole body.
    #[error(transparent)]
    Body(ApiError),
}

impl Wrong {
    /// The error of a field with this value; the body itself has no name.
    pub(super) fn in_field(self, family: &Family, field: &str, value: &Value<'_>) -> ApiError {
        match (self, value) {
            (Self::Value(allowed), Value::Null) if !field.is_empty() => {
                ApiError::new(family.missing, vec![field.to_owned(), allowed])
            }
            (wrong, value) => wrong.in_entry(family, field, value),
        }
    }

    /// The error of a value that is there, also null: an entry of an array.
    pub(super) fn in_entry(self, family: &Family, field: &str, value: &Value<'_>) -> ApiError {
        match self {
            Self::Body(error) => error,
            Self::Value(allowed) if field.is_empty() => family.misshapen("", value, &allowed),
            Self::Value(allowed) => {
                let values = vec![field.to_owned(), value.shown(), allowed];
                ApiError::new(family.wrong, values)
            }
        }
    }
}

impl Error for Wrong {
    /// What is allowed, or the fixed text of an error.
    fn custom<T: Display>(problem: T) -> Self {
        let text = problem.to_string();
        let code = ErrorCode::ALL.iter().find(|code| code.text() == text);
        code.map_or(Self::Value(text), |code| Self::Body((*code).into()))
    }

    fn invalid_type(_: Unexpected<'_>, allowed: &dyn Expected) -> Self {
        Self::custom(allowed)
    }
}

/// A value of a body.
#[derive(Clone, Copy)]
pub(crate) struct ValueReader<'de> {
    value: &'de Value<'de>,
    /// Its name; empty = the body itself.
    field: &'static str,
    context: &'de Context<'de>,
}

impl<'de> Deserializer<'de> for ValueReader<'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(*flag),
            Value::Number(Number::Whole(number)) => visitor.visit_u64(*number),
            Value::Text(text) => visitor.visit_str(text),
            Value::Array(entries) => visitor.visit_seq(EntryReader {
                entries: entries.iter(),
                array: self,
            }),
            Value::Number(Number::Other(_)) | Value::Object(_) | Value::Deep => {
                Err(Wrong::invalid_type(Unexpected::Other("value"), &visitor))
            }
        }
    }

    /// A number of any size: its digits as text where it exceeds 64 bits.
    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value {
            Value::Number(Number::Other(digits)) => visitor.visit_str(digits),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value {
            Value::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value {
            Value::Array(_) => self.deserialize_any(visitor),
            _ => Err(Wrong::custom("an array")),
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
            return Err(Wrong::Body(self.context.family.repeated.with([&key])));
        }
        if self.context.family.is_strict {
            let is_body = self.field.is_empty();
            let known = match self.context.known {
                parts if is_body && !parts.is_empty() => parts,
                _ => fields,
            };
            reject_unknown(object, known, is_body).map_err(Wrong::Body)?;
        }
        visitor.visit_map(FieldReader {
            object,
            place: 0,
            fields: fields.iter().enumerate(),
            reader: self,
        })
    }

    /// A field whose object is kept as it is, to the last level.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let wrong = |_| Wrong::custom("an object");
        let fields: HashMap<String, &'de RawValue> =
            serde_json::from_slice(self.context.body).map_err(wrong)?;
        let Some(value) = fields.get(self.field) else {
            return Err(Wrong::custom("an object"));
        };
        serde_json::Deserializer::from_str(value.get())
            .deserialize_map(visitor)
            .map_err(wrong)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf unit
        unit_struct newtype_struct tuple tuple_struct enum identifier ignored_any
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

/// The entries of an array. An error names the field of the array and the entry.
struct EntryReader<'de> {
    entries: core::slice::Iter<'de, Value<'de>>,
    array: ValueReader<'de>,
}

impl<'de> SeqAccess<'de> for EntryReader<'de> {
    type Error = Wrong;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Wrong> {
        let Some(value) = self.entries.next() else {
            return Ok(None);
        };
        let ValueReader { field, context, .. } = self.array;
        seed.deserialize(ValueReader {
            value,
            ..self.array
        })
        .map(Some)
        .map_err(|wrong| Wrong::Body(wrong.in_entry(context.family, field, value)))
    }
}

/// The fields of a request in their order. A missing field is null, so that its form decides.
struct FieldReader<'de> {
    object: &'de Object<'de>,
    /// Where the next field is expected.
    place: usize,
    fields: core::iter::Enumerate<core::slice::Iter<'static, &'static str>>,
    /// Of the field that was named last; of the whole object before.
    reader: ValueReader<'de>,
}

impl<'de> MapAccess<'de> for FieldReader<'de> {
    type Error = Wrong;

    /// Gives the field's index as its key, which derived structs accept in place of the name.
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Wrong> {
        let Some((index, field)) = self.fields.next() else {
            return Ok(None);
        };
        self.reader.field = field;
        let index: u64 = index.try_into().expect("a struct has few fields");
        seed.deserialize(index.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let ValueReader { field, context, .. } = self.reader;
        let value = self.object.get_near(field, &mut self.place);
        seed.deserialize(ValueReader {
            value,
            ..self.reader
        })
        .map_err(|wrong| Wrong::Body(wrong.in_field(context.family, field, value)))
    }
}
