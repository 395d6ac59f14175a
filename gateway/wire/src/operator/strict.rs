//! A JSON object that rejects unknown fields.

use crate::api_error::{ApiError, FieldError, quoted};
use crate::body::object;
use crate::json::{Number, Object, Value};
use crate::limits::OPERATOR_BODY_BYTES;

/// A body, or an object inside one.
pub(super) struct StrictObject<'a>(Object<'a>);

impl<'a> StrictObject<'a> {
    /// Reads a body and rejects fields outside `known`.
    pub(super) fn body(
        body: &'a [u8],
        copy: &'a mut Vec<u8>,
        known: &[&str],
    ) -> Result<Self, ApiError> {
        Self::of(object(body, OPERATOR_BODY_BYTES, copy)?, known)
    }

    fn of(object: Object<'a>, known: &[&str]) -> Result<Self, ApiError> {
        if let Some(unknown) = object.keys().find(|key| !known.contains(key)) {
            return Err(ApiError::InvalidContent(format!(
                "the field {} is unknown, allowed: {}",
                quoted(unknown),
                known.join(", ")
            )));
        }
        Ok(Self(object))
    }

    /// An optional object inside this one.
    pub(super) fn inner(
        &self,
        field: &'static str,
        known: &[&str],
    ) -> Result<Option<Self>, ApiError> {
        match self.0.get(field) {
            Value::Null => Ok(None),
            Value::Object(object) => match object.duplicate() {
                Some(key) => Err(ApiError::DuplicateKey(key)),
                None => Self::of(object.clone(), known).map(Some),
            },
            _ => Err(self.wrong(field, "an object")),
        }
    }

    /// The value of a field.
    pub(super) fn get(&self, field: &str) -> &Value<'a> {
        self.0.get(field)
    }

    /// The error of a missing field or a wrong value.
    pub(super) fn wrong(&self, field: &'static str, allowed: &'static str) -> ApiError {
        let value = match self.0.get(field) {
            Value::Null => None,
            value => Some(value.shown()),
        };
        ApiError::Field(FieldError {
            field,
            value,
            allowed,
        })
    }

    /// A required text, parsed with `read`.
    pub(super) fn read<T>(
        &self,
        field: &'static str,
        allowed: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ApiError> {
        self.optional(field, allowed, read)?
            .ok_or_else(|| self.wrong(field, allowed))
    }

    /// An optional text, parsed with `read`.
    pub(super) fn optional<T>(
        &self,
        field: &'static str,
        allowed: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ApiError> {
        match self.0.get(field) {
            Value::Null => Ok(None),
            Value::Text(text) => read(text)
                .map(Some)
                .ok_or_else(|| self.wrong(field, allowed)),
            _ => Err(self.wrong(field, allowed)),
        }
    }

    /// A text of at most `limit` bytes, empty when missing.
    pub(super) fn text(&self, field: &'static str, limit: usize) -> Result<String, ApiError> {
        let text = self.optional(field, "a text, shorter", |text| {
            (text.len() <= limit).then(|| text.to_owned())
        })?;
        Ok(text.unwrap_or_default())
    }

    /// An optional number of at most `largest`.
    pub(super) fn number<N: TryFrom<u64>>(
        &self,
        field: &'static str,
        allowed: &'static str,
    ) -> Result<Option<N>, ApiError> {
        match self.0.get(field) {
            Value::Null => Ok(None),
            Value::Number(Number::Whole(number)) => N::try_from(*number)
                .map(Some)
                .map_err(|_| self.wrong(field, allowed)),
            _ => Err(self.wrong(field, allowed)),
        }
    }

    /// A required number.
    pub(super) fn required_number<N: TryFrom<u64>>(
        &self,
        field: &'static str,
        allowed: &'static str,
    ) -> Result<N, ApiError> {
        self.number(field, allowed)?
            .ok_or_else(|| self.wrong(field, allowed))
    }

    /// An optional boolean.
    pub(super) fn flag(&self, field: &'static str) -> Result<Option<bool>, ApiError> {
        match self.0.get(field) {
            Value::Null => Ok(None),
            Value::Bool(flag) => Ok(Some(*flag)),
            _ => Err(self.wrong(field, "true or false")),
        }
    }

    /// A required boolean.
    pub(super) fn required_flag(&self, field: &'static str) -> Result<bool, ApiError> {
        self.flag(field)?
            .ok_or_else(|| self.wrong(field, "true or false"))
    }
}
