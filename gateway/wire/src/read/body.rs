//! Helpers of the readers of small bodies.

use crate::errors::api_error::{ApiError, FieldError};
use crate::errors::error_code::ErrorCode;
use crate::read::json::{self, Object, Value};

/// Reads a body of at most `limit` bytes.
pub(crate) fn bounded<'a>(
    body: &'a [u8],
    limit: usize,
    copy: &'a mut Vec<u8>,
) -> Result<Value<'a>, ApiError> {
    if body.len() > limit {
        return Err(ErrorCode::BodyTooLarge.with([&limit]));
    }
    json::read(body, copy).map_err(|broken| ErrorCode::InvalidBody.with([&broken.text()]))
}

/// Reads a body that is one object without duplicate keys.
pub(crate) fn object<'a>(
    body: &'a [u8],
    limit: usize,
    copy: &'a mut Vec<u8>,
) -> Result<Object<'a>, ApiError> {
    match bounded(body, limit, copy)? {
        Value::Object(object) => match object.duplicate() {
            Some(key) => Err(ErrorCode::RepeatedJsonKey.with([&key])),
            None => Ok(object),
        },
        other => {
            Err(ErrorCode::InvalidBody.with([&(format!("{}, allowed: an object", other.shown()))]))
        }
    }
}

/// Reads an optional text field; null and empty count as absent.
pub(crate) fn optional_text<'o>(
    object: &'o Object<'_>,
    field: &'static str,
) -> Result<Option<&'o str>, ApiError> {
    match object.get(field) {
        Value::Null => Ok(None),
        Value::Text(text) if text.is_empty() => Ok(None),
        Value::Text(text) => Ok(Some(text)),
        other => Err(ApiError::from(FieldError {
            field,
            value: Some(other.shown()),
            allowed: "a text",
        })),
    }
}

/// Reads a required text field.
pub(crate) fn text<'o>(
    object: &'o Object<'_>,
    field: &'static str,
    allowed: &'static str,
) -> Result<&'o str, ApiError> {
    optional_text(object, field)?.ok_or_else(|| FieldError::missing(field, allowed).into())
}

/// Reads a required text field with `read`.
pub(crate) fn read_text<T>(
    object: &Object<'_>,
    field: &'static str,
    allowed: &'static str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, ApiError> {
    let text = text(object, field, allowed)?;
    read(text).ok_or_else(|| FieldError::wrong(field, text, allowed).into())
}
