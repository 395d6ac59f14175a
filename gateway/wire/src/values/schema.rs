//! The JSON schemas of values.

use crate::schema::{JsonSchema, Schema, SchemaGenerator};
use crate::values::Uint;

pub use crate::schema::json_schema;

/// Makes a schema.
pub type Maker = fn(&mut SchemaGenerator) -> Schema;

/// The schemas of a value, which stand where they are used.
pub trait Schemas {
    /// The description of its components.
    const DESCRIPTION: &'static str = "";
    /// What is read; empty where it is that of [`Self::WRITTEN`].
    const READ: &'static [Maker] = &[];
    /// What is written; empty where it is that of [`Self::READ`].
    const WRITTEN: &'static [Maker] = &[];
    /// Whether a body may leave it out.
    const IS_OPTIONAL: bool = false;

    /// The schema of what is read.
    fn when_read(generator: &mut SchemaGenerator) -> Schema {
        [Self::READ, Self::WRITTEN].concat()[0](generator)
    }

    /// The schema of what is written.
    fn when_written(generator: &mut SchemaGenerator) -> Schema {
        [Self::WRITTEN, Self::READ].concat()[0](generator)
    }
}

/// The schema of a JSON value.
pub fn of_json<T: JsonSchema + ?Sized>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The schema of a text.
pub fn of_text(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<str>()
}

/// A schema with more keywords.
pub fn with_keywords(mut schema: Schema, mut keywords: Schema) -> Schema {
    schema.ensure_object().append(keywords.ensure_object());
    schema
}

/// A schema that the documents have once, under its name.
pub fn component(
    generator: &mut SchemaGenerator,
    name: &str,
    description: &str,
    mut schema: Schema,
) -> Schema {
    let description = || description.into();
    (schema.ensure_object().entry("description")).or_insert_with(description);
    if generator.settings().inline_subschemas {
        return schema;
    }
    let path = generator.settings().definitions_path.clone();
    let definitions = generator.definitions_mut();
    definitions.insert(name.to_owned(), schema.to_value());
    Schema::new_ref(format!("#{path}/{name}"))
}

impl JsonSchema for Uint {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Uint".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"], "pattern": "^[0-9]{1,78}$", "minimum": 0 })
    }
}
