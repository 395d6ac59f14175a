//! How a field of a struct of parameters takes its parameter.

#[cfg(feature = "documents")]
use serde_json::{Value as Json, json};

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::read::query::parameter::Parameter;
use crate::read::query::reader::Reader;
use crate::read::query::text_form::TextForm;

/// How a field takes its parameter.
pub trait Field {
    /// How a text of the parameter is read.
    type Form: TextForm;
    /// The field's value.
    type Value;

    /// How a text of the parameter is read.
    fn form(&self) -> &Self::Form;

    /// Takes the parameter.
    ///
    /// # Errors
    /// It is missing, repeated or wrong.
    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError>;

    /// The JSON schema of the parameter.
    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        self.form().schema()
    }

    /// The codes of its errors, where their texts are fixed.
    fn codes(&self) -> Vec<ErrorCode> {
        let codes = [self.form().wrong(), self.form().missing()];
        codes.into_iter().flatten().collect()
    }
}

/// A parameter that may be absent.
#[derive(Clone, Copy, Debug)]
pub struct Optional<F>(pub F);

impl<F: TextForm> Field for Optional<F> {
    type Form = F;
    type Value = Option<F::Value>;

    fn form(&self) -> &F {
        &self.0
    }

    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError> {
        reader.optional(parameter, &self.0)
    }
}

/// A required parameter.
#[derive(Clone, Copy, Debug)]
pub struct Required<F>(pub F);

impl<F: TextForm> Field for Required<F> {
    type Form = F;
    type Value = F::Value;

    fn form(&self) -> &F {
        &self.0
    }

    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError> {
        let value = reader.optional(parameter, &self.0)?;
        value.ok_or_else(|| reader.missing(parameter, &self.0))
    }
}

/// A parameter with a default, which is written as a client would write it.
#[derive(Clone, Copy, Debug)]
pub struct Or<F>(pub F, pub &'static str);

impl<F: TextForm> Field for Or<F> {
    type Form = F;
    type Value = F::Value;

    fn form(&self) -> &F {
        &self.0
    }

    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError> {
        match reader.optional(parameter, &self.0)? {
            Some(value) => Ok(value),
            None => reader.value(parameter.name, &self.0, self.1),
        }
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        let mut schema = self.0.schema();
        schema["default"] = serde_json::from_str(self.1).unwrap_or_else(|_| self.1.into());
        schema
    }
}

/// A parameter that may be absent by the interface, and has a default in the API family, where a text may stand for its
/// absence.
#[derive(Clone, Copy, Debug)]
pub struct FamilyOr<F>(pub F, pub &'static str);

impl<V, F: TextForm<Value = Option<V>>> Field for FamilyOr<F> {
    type Form = F;
    type Value = Option<V>;

    fn form(&self) -> &F {
        &self.0
    }

    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError> {
        match reader.optional(parameter, &self.0)? {
            None if reader.is_family() => reader.value(parameter.name, &self.0, self.1),
            value => Ok(value.flatten()),
        }
    }
}

/// A list of at most so many entries, without duplicates; empty when it is absent.
#[derive(Clone, Copy, Debug)]
pub struct List<F>(pub F, pub usize);

impl<F: TextForm<Value: PartialEq>> Field for List<F> {
    type Form = F;
    type Value = Vec<F::Value>;

    fn form(&self) -> &F {
        &self.0
    }

    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError> {
        reader.list(parameter, &self.0, self.1)
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        json!({ "type": "array", "items": self.0.schema(), "minItems": 1, "maxItems": self.1 })
    }
}

/// A [`List`] of at least one entry.
#[derive(Clone, Copy, Debug)]
pub struct RequiredList<F>(pub F, pub usize);

impl<F: TextForm<Value: PartialEq> + Copy> Field for RequiredList<F> {
    type Form = F;
    type Value = Vec<F::Value>;

    fn form(&self) -> &F {
        &self.0
    }

    fn take(&self, reader: &Reader<'_>, parameter: &Parameter) -> Result<Self::Value, ApiError> {
        let values = reader.list(parameter, &self.0, self.1)?;
        match values.is_empty() {
            true => Err(reader.missing(parameter, &self.0)),
            false => Ok(values),
        }
    }

    #[cfg(feature = "documents")]
    fn schema(&self) -> Json {
        List(self.0, self.1).schema()
    }
}
