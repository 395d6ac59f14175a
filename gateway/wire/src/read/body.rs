//! Reads a body into a request: a serde deserializer of an object that names the field, the value and
//! what is allowed.
//!
//! A request is a struct of [values](crate::values). Its fields are read in their
//! declared order, so that the first of them that is wrong is the error.

mod values;

use core::fmt::Display;

use serde::de::DeserializeOwned;
#[cfg(feature = "documents")]
use serde_json::json;

use crate::errors::api_error::ApiError;
use crate::errors::error_code::ErrorCode;
use crate::read::body::values::{Context, ValueReader, Wrong};
use crate::read::json::{self, Value};
#[cfg(feature = "documents")]
use crate::schema::{JsonSchema, Schema, SchemaGenerator, json_schema};
#[cfg(feature = "documents")]
use crate::values::{Optional, ReasonText, schema::with_keywords};

/// The body of a request. Its route bounds its bytes.
pub trait RequestBody: Sized {
    /// The codes of its errors.
    const ERRORS: &'static [ErrorCode] = TRADING.codes;
    /// Whether a request may have none.
    const IS_OPTIONAL: bool = false;

    /// The JSON schema.
    #[cfg(feature = "documents")]
    fn schema(generator: &mut SchemaGenerator) -> Schema;

    /// Reads the body.
    ///
    /// # Errors
    /// It is no JSON or has another shape; a field is missing, wrong, repeated or, for operators,
    /// unknown.
    fn read(body: &[u8]) -> Result<Self, ApiError>;
}

/// Bodies that are one object, read as their family is: into its fields (`=>` and from those into the
/// body), `= default` without bytes.
macro_rules! bodies {
    ($family:path: $fields:ty => $body:ty) => {
        impl $crate::read::body::RequestBody for $body {
            const ERRORS: &'static [$crate::ErrorCode] = $family.codes;

            #[cfg(feature = "documents")]
            fn schema(generator: &mut $crate::schema::SchemaGenerator) -> $crate::schema::Schema {
                $family.schema::<$fields>(generator)
            }

            fn read(body: &[u8]) -> Result<Self, $crate::ApiError> {
                $family.read::<$fields>(body)?.try_into()
            }
        }
    };
    ($family:path: $body:ty = default) => {
        impl $crate::read::body::RequestBody for $body {
            const ERRORS: &'static [$crate::ErrorCode] = $family.codes;
            const IS_OPTIONAL: bool = true;

            #[cfg(feature = "documents")]
            fn schema(generator: &mut $crate::schema::SchemaGenerator) -> $crate::schema::Schema {
                $family.schema::<$body>(generator)
            }

            fn read(body: &[u8]) -> Result<Self, $crate::ApiError> {
                match body.trim_ascii().is_empty() {
                    true => Ok(Self::default()),
                    false => $family.read(body),
                }
            }
        }
    };
    ($family:path: $($body:ty),+ $(,)?) => {$(
        impl $crate::read::body::RequestBody for $body {
            const ERRORS: &'static [$crate::ErrorCode] = $family.codes;

            #[cfg(feature = "documents")]
            fn schema(generator: &mut $crate::schema::SchemaGenerator) -> $crate::schema::Schema {
                $family.schema::<$body>(generator)
            }

            fn read(body: &[u8]) -> Result<Self, $crate::ApiError> {
                $family.read(body)
            }
        }
    )+};
}
pub(crate) use bodies;

/// What differs between bodies: the codes of their errors, and whether unknown fields are refused.
pub(crate) struct Family {
    /// The error of a body that is no JSON or has another shape.
    shape: fn(problem: &dyn Display) -> ApiError,
    missing: ErrorCode,
    wrong: ErrorCode,
    repeated: ErrorCode,
    /// These codes, and others of its bodies.
    pub(crate) codes: &'static [ErrorCode],
    /// Refuses unknown fields, except a [`REASON`] beside those of the body.
    is_strict: bool,
}

/// Bodies of the trading surface: unknown fields are ignored.
pub(crate) const TRADING: &Family = &Family {
    shape: |problem| ErrorCode::InvalidBody.with([problem]),
    missing: ErrorCode::MissingField,
    wrong: ErrorCode::InvalidField,
    repeated: ErrorCode::RepeatedJsonKey,
    codes: &[
        ErrorCode::InvalidBody,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::RepeatedJsonKey,
        ErrorCode::TooManyEntries,
    ],
    is_strict: false,
};

/// Bodies of the operator surface.
pub(crate) const OPERATOR: &Family = &Family {
    codes: &[
        ErrorCode::InvalidBody,
        ErrorCode::MissingField,
        ErrorCode::InvalidField,
        ErrorCode::RepeatedJsonKey,
        ErrorCode::InvalidContent,
    ],
    is_strict: true,
    ..*TRADING
};

/// Signed orders, whose errors have texts of their own.
pub(crate) const ORDER: &Family = &Family {
    shape: |_| ErrorCode::InvalidOrderPayload.into(),
    missing: ErrorCode::MissingOrderField,
    wrong: ErrorCode::InvalidOrderField,
    repeated: ErrorCode::RepeatedOrderField,
    codes: &[
        ErrorCode::InvalidOrderPayload,
        ErrorCode::MissingOrderField,
        ErrorCode::InvalidOrderField,
        ErrorCode::RepeatedOrderField,
    ],
    is_strict: false,
};

/// The field that every body of an operator may have beside its own.
const REASON: &str = "reason";

/// The bounds of a body that is an array, and how its errors name them.
pub(crate) struct List {
    /// What the error allows when the body is no array.
    pub(crate) array: &'static str,
    /// What errors call an entry, such as `order id`; `None` = entries are objects, and errors name their
    /// fields.
    pub(crate) entry: Option<&'static str>,
    pub(crate) max_entries: usize,
    /// The bound in words.
    pub(crate) allowed: &'static str,
}

impl List {
    /// The JSON schema of an array of entries.
    #[cfg(feature = "documents")]
    pub(crate) fn schema<T: JsonSchema>(&self, generator: &mut SchemaGenerator) -> Schema {
        let items = generator.subschema_for::<T>();
        json_schema!({ "type": "array", "items": items, "maxItems": self.max_entries })
    }
}

impl Family {
    /// The JSON schema of a body.
    #[cfg(feature = "documents")]
    pub(crate) fn schema<T: JsonSchema>(&self, generator: &mut SchemaGenerator) -> Schema {
        if !self.is_strict {
            return generator.subschema_for::<T>();
        }
        let mut schema = T::json_schema(generator);
        let reason = Optional::<ReasonText>::json_schema(generator);
        let reason = with_keywords(
            reason,
            json_schema!({ "description": "Reason of the command, journalled." }),
        );
        let properties = schema.ensure_object().entry("properties");
        properties.or_insert_with(|| json!({}))[REASON] = reason.to_value();
        schema
    }

    /// Reads a body that is one object.
    pub(crate) fn read<T: DeserializeOwned>(&'static self, body: &[u8]) -> Result<T, ApiError> {
        self.parse(body, &mut Vec::new())?.read(T::deserialize)
    }

    /// Reads a body that is an array.
    pub(crate) fn read_list<T: DeserializeOwned>(
        &'static self,
        text: &[u8],
        list: &List,
    ) -> Result<Vec<T>, ApiError> {
        let mut copy = Vec::new();
        let body = self.parse(text, &mut copy)?;
        let entries = match &body.value {
            Value::Array(entries) => entries,
            other => return Err(self.misshapen("", other, list.array)),
        };
        if entries.len() > list.max_entries {
            let values: [&dyn Display; 3] = [&"the array", &entries.len(), &list.allowed];
            return Err(ErrorCode::TooManyEntries.with(values));
        }
        let read = |value| {
            T::deserialize(body.context.reader(value)).map_err(|wrong| match (list.entry, wrong) {
                (None, Wrong::Value(allowed)) => self.misshapen("an entry is ", value, &allowed),
                (entry, wrong) => wrong.in_entry(self, entry.unwrap_or_default(), value),
            })
        };
        entries.iter().map(read).collect()
    }

    /// Reads a value that is one object.
    pub(crate) fn read_value<T: DeserializeOwned>(
        &'static self,
        value: &Value<'_>,
    ) -> Result<T, ApiError> {
        let context = self.context(&[]);
        T::deserialize(context.reader(value)).map_err(|wrong| wrong.in_field(self, "", value))
    }

    /// Parses a body; `copy` is scratch memory.
    pub(crate) fn parse<'b>(
        &'static self,
        text: &'b [u8],
        copy: &'b mut Vec<u8>,
    ) -> Result<Body<'b>, ApiError> {
        let value = json::read(text, copy).map_err(|problem| (self.shape)(&problem.text()))?;
        let context = self.context(text);
        Ok(Body { value, context })
    }

    const fn context<'b>(&'static self, body: &'b [u8]) -> Context<'b> {
        Context {
            body,
            known: &[],
            family: self,
        }
    }

    fn misshapen(&self, name: &str, value: &Value<'_>, allowed: &str) -> ApiError {
        (self.shape)(&format_args!("{name}{}, allowed: {allowed}", value.shown()))
    }
}

/// A parsed body.
pub(crate) struct Body<'b> {
    pub(crate) value: Value<'b>,
    context: Context<'b>,
}

impl Body<'_> {
    /// The body as one that is read in parts; `fields` are those of all parts.
    pub(crate) fn in_parts(mut self, fields: &'static [&'static str]) -> Self {
        self.context.known = fields;
        self
    }

    /// Reads the object, or a part of it, with serde's function of a type.
    pub(crate) fn read<'s, T>(
        &'s self,
        read: impl FnOnce(ValueReader<'s>) -> Result<T, Wrong>,
    ) -> Result<T, ApiError> {
        read(self.context.reader(&self.value))
            .map_err(|wrong| wrong.in_field(self.context.family, "", &self.value))
    }
}
