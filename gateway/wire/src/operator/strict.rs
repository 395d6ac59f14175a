//! An object of which every field must be known.

use crate::body::object;
use crate::failure::{Failure, FieldProblem, quoted};
use crate::json::{Number, Object, Value};
use crate::limits::OPERATOR_BODY_BYTES;

/// A body, or an object inside one.
pub(super) struct Strict<'a>(Object<'a>);

impl<'a> Strict<'a> {
    /// Reads a body whose fields are among `known`.
    pub(super) fn body(
        body: &'a [u8],
        copy: &'a mut Vec<u8>,
        known: &[&str],
    ) -> Result<Self, Failure> {
        Self::of(object(body, OPERATOR_BODY_BYTES, copy)?, known)
    }

    fn of(object: Object<'a>, known: &[&str]) -> Result<Self, Failure> {
        if let Some(unknown) = object.keys().find(|key| !known.contains(key)) {
            return Err(Failure::Rejected(format!(
                "the field {} is unknown, allowed: {}",
                quoted(unknown),
                known.join(", ")
            )));
        }
        Ok(Self(object))
    }

    /// An object inside, if it is there.
    pub(super) fn inner(
        &self,
        field: &'static str,
        known: &[&str],
    ) -> Result<Option<Self>, Failure> {
        match self.0.get(field) {
            Value::Null => Ok(None),
            Value::Object(object) => match object.duplicate() {
                Some(key) => Err(Failure::DuplicateKey(key)),
                None => Self::of(object.clone(), known).map(Some),
            },
            _ => Err(self.wrong(field, "an object")),
        }
    }

    /// A field as it stands.
    pub(super) fn get(&self, field: &str) -> &Value<'a> {
        self.0.get(field)
    }

    /// The failure of a field that is missing or not what it must be.
    pub(super) fn wrong(&self, field: &'static str, allowed: &'static str) -> Failure {
        let value = match self.0.get(field) {
            Value::Null => None,
            value => Some(value.shown()),
        };
        Failure::Field(FieldProblem {
            field,
            value,
            allowed,
        })
    }

    /// A text that must be there.
    pub(super) fn read<T>(
        &self,
        field: &'static str,
        allowed: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Failure> {
        self.optional(field, allowed, read)?
            .ok_or_else(|| self.wrong(field, allowed))
    }

    /// A text that may be missing.
    pub(super) fn optional<T>(
        &self,
        field: &'static str,
        allowed: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        match self.0.get(field) {
            Value::Null => Ok(None),
            Value::Text(text) => read(text)
                .map(Some)
                .ok_or_else(|| self.wrong(field, allowed)),
            _ => Err(self.wrong(field, allowed)),
        }
    }

    /// A text of at most `limit` bytes, empty when missing.
    pub(super) fn text(&self, field: &'static str, limit: usize) -> Result<String, Failure> {
        let text = self.optional(field, "a text, shorter", |text| {
            (text.len() <= limit).then(|| text.to_owned())
        })?;
        Ok(text.unwrap_or_default())
    }

    /// A number of at most `largest` that may be missing.
    pub(super) fn number<N: TryFrom<u64>>(
        &self,
        field: &'static str,
        allowed: &'static str,
    ) -> Result<Option<N>, Failure> {
        match self.0.get(field) {
            Value::Null => Ok(None),
            Value::Number(Number::Whole(number)) => N::try_from(*number)
                .map(Some)
                .map_err(|_| self.wrong(field, allowed)),
            _ => Err(self.wrong(field, allowed)),
        }
    }

    /// A number that must be there.
    pub(super) fn required_number<N: TryFrom<u64>>(
        &self,
        field: &'static str,
        allowed: &'static str,
    ) -> Result<N, Failure> {
        self.number(field, allowed)?
            .ok_or_else(|| self.wrong(field, allowed))
    }

    /// A boolean that may be missing.
    pub(super) fn flag(&self, field: &'static str) -> Result<Option<bool>, Failure> {
        match self.0.get(field) {
            Value::Null => Ok(None),
            Value::Bool(flag) => Ok(Some(*flag)),
            _ => Err(self.wrong(field, "true or false")),
        }
    }

    /// A boolean that must be there.
    pub(super) fn required_flag(&self, field: &'static str) -> Result<bool, Failure> {
        self.flag(field)?
            .ok_or_else(|| self.wrong(field, "true or false"))
    }
}
