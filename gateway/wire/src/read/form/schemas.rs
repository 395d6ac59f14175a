//! The JSON schemas of forms.

use std::borrow::Cow;

use crate::read::form::{Digits, Each, Filled, Form, Formed, Optional, OrDefault};
use crate::schema::{JsonSchema, Schema, SchemaGenerator, json_schema};

impl JsonSchema for Digits {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Digits".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"], "pattern": "^[0-9]{1,78}$", "minimum": 0 })
    }
}

/// A schema with more keywords.
pub(crate) fn with_keywords(mut schema: Schema, mut keywords: Schema) -> Schema {
    schema.ensure_object().append(keywords.ensure_object());
    schema
}

/// A body may have null in place of a value; an answer has a value or leaves it out.
fn nullable<F: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    match generator.contract().is_serialize() {
        true => F::json_schema(generator),
        false => Option::<F>::json_schema(generator),
    }
}

/// The schema of a form that consists of others.
macro_rules! form_schemas {
    ($($name:ident<F>, $is_optional:literal = $schema:expr;)+) => {$(
        impl<F: JsonSchema> JsonSchema for $name<F> {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                format!("{}{}", stringify!($name), F::schema_name()).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                $schema(generator)
            }

            fn _schemars_private_is_option() -> bool {
                $is_optional
            }
        }
    )+};
}

form_schemas! {
    Optional<F>, true = nullable::<F>;
    OrDefault<F>, true = nullable::<F>;
    Filled<F>, false = |generator: &mut SchemaGenerator| {
        json_schema!({ "anyOf": [generator.subschema_for::<F>(), { "type": "string", "maxLength": 0 }] })
    };
    Each<F>, false = Vec::<F>::json_schema;
}

impl<F: Form + JsonSchema> JsonSchema for Formed<F> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        F::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        F::json_schema(generator)
    }
}
