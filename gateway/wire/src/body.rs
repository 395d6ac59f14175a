//! What the readers of small bodies share.

use crate::failure::{Failure, FieldProblem};
use crate::json::{self, Object, Value};

/// Reads a body of at most `limit` bytes.
pub(crate) fn bounded<'a>(
    body: &'a [u8],
    limit: usize,
    copy: &'a mut Vec<u8>,
) -> Result<Value<'a>, Failure> {
    if body.len() > limit {
        return Err(Failure::BodyTooLarge { limit });
    }
    json::read(body, copy).map_err(|broken| Failure::InvalidBody(broken.text().to_owned()))
}

/// Reads a body that is one object without duplicate keys.
pub(crate) fn object<'a>(
    body: &'a [u8],
    limit: usize,
    copy: &'a mut Vec<u8>,
) -> Result<Object<'a>, Failure> {
    match bounded(body, limit, copy)? {
        Value::Object(object) => match object.duplicate() {
            Some(key) => Err(Failure::DuplicateKey(key)),
            None => Ok(object),
        },
        other => Err(Failure::InvalidBody(format!(
            "{}, allowed: an object",
            other.shown()
        ))),
    }
}

/// A text field; null and empty are absent.
pub(crate) fn optional_text<'o>(
    object: &'o Object<'_>,
    field: &'static str,
) -> Result<Option<&'o str>, Failure> {
    match object.get(field) {
        Value::Null => Ok(None),
        Value::Text(text) if text.is_empty() => Ok(None),
        Value::Text(text) => Ok(Some(text)),
        other => Err(Failure::Field(FieldProblem {
            field,
            value: Some(other.shown()),
            allowed: "a text",
        })),
    }
}

/// A text field that must be there.
pub(crate) fn text<'o>(
    object: &'o Object<'_>,
    field: &'static str,
    allowed: &'static str,
) -> Result<&'o str, Failure> {
    optional_text(object, field)?.ok_or_else(|| FieldProblem::missing(field, allowed).into())
}

/// A text field that must be there and that `read` understands.
pub(crate) fn read_text<T>(
    object: &Object<'_>,
    field: &'static str,
    allowed: &'static str,
    read: impl FnOnce(&str) -> Option<T>,
) -> Result<T, Failure> {
    let text = text(object, field, allowed)?;
    read(text).ok_or_else(|| FieldProblem::wrong(field, text, allowed).into())
}
