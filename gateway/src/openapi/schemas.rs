//! The JSON schemas of a document: bodies and answers by their types.

use foretell_wire::read::RequestBody;
use foretell_wire::read::path::PathParameter;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value as Json, json};

/// The schemas of a document. Bodies and answers have their own, because a field that a client may
/// leave out is always in an answer.
pub(crate) struct Schemas {
    bodies: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let settings = || {
            SchemaSettings::draft2020_12().with(|settings| {
                settings.meta_schema = None;
                settings.definitions_path = "/components/schemas".into();
            })
        };
        Self {
            bodies: settings().for_deserialize().into_generator(),
            answers: settings().for_serialize().into_generator(),
        }
    }
}

impl Schemas {
    /// The schema of the parameter of a path.
    pub(super) fn path<T: PathParameter>(&mut self) -> Json {
        self.bodies.subschema_for::<T::Schema>().to_value()
    }

    /// The schema of a body.
    pub(super) fn body<T: RequestBody>(&mut self) -> Json {
        let mut schema = T::schema(&mut self.bodies);
        without_defaults(&mut schema);
        schema.to_value()
    }

    /// The schema of an answer.
    pub(super) fn answer<T: JsonSchema>(&mut self) -> Json {
        let mut schema = self.answers.subschema_for::<T>();
        closed(&mut schema);
        schema.to_value()
    }

    /// The schemas by name.
    ///
    /// # Panics
    /// When two types have one name, which a test finds.
    #[cfg(test)]
    pub(super) fn by_name(mut self) -> serde_json::Map<String, Json> {
        let mut all = self.bodies.take_definitions(true);
        for schema in all.values_mut() {
            without_defaults(schema.try_into().expect("a schema"));
        }
        let mut answers = self.answers.take_definitions(true);
        for schema in answers.values_mut() {
            closed(schema.try_into().expect("a schema"));
        }
        for (name, schema) in answers {
            let before = all.insert(name.clone(), schema);
            let is_same = before.is_none_or(|before| before == all[&name]);
            assert!(is_same, "two schemas are called {name}");
        }
        all.sort_keys();
        all
    }
}

/// Says what generators of clients need to be told, and can read: a field of any value is an object
/// without keywords, an array has entries, and words are one enum.
fn make_explicit(schema: &mut Schema) {
    if let Some(Json::Object(fields)) = schema.get_mut("properties") {
        let of_any_value = fields.values_mut().filter(|field| **field == true);
        of_any_value.for_each(|field| *field = json!({}));
    }
    let is_array = schema.get("type").is_some_and(|kind| kind == "array");
    if is_array && schema.get("items").is_none() {
        schema.insert("items".to_owned(), json!({}));
    }
    gather_words(schema);
}

/// Makes an enum of alternatives that are a word each, whose descriptions become a list in its own.
fn gather_words(schema: &mut Schema) {
    let kinds = schema.get("oneOf").and_then(Json::as_array);
    let word = |kind: &Json| Some(kind["const"].as_str()?.to_owned());
    let words: Option<Vec<_>> = kinds.and_then(|kinds| kinds.iter().map(word).collect());
    let (Some(kinds), Some(words)) = (kinds, words) else {
        return;
    };
    let meanings = words.iter().zip(kinds).map(|(word, kind)| {
        let meaning = kind["description"].as_str().unwrap_or_default();
        format!("\n- `{word}`: {meaning}")
    });
    let description = schema.get("description").and_then(Json::as_str);
    let mut description = format!("{}\n", description.unwrap_or_default());
    description.extend(meanings);
    let gathered = json!({ "type": "string", "enum": words, "description": description });
    *schema = gathered.try_into().expect("a schema");
}

/// Removes defaults, which say how the exchange reads, at any depth.
fn without_defaults(schema: &mut Schema) {
    make_explicit(schema);
    schema.remove("default");
    transform_subschemas(&mut without_defaults, schema);
}

/// Allows no fields but those named, and no null in place of an absent one, at any depth: answers have
/// neither.
fn closed(schema: &mut Schema) {
    make_explicit(schema);
    schema.remove("default");
    let required = schema.get("required").cloned().unwrap_or_default();
    if let Some(Json::Object(fields)) = schema.get_mut("properties") {
        for (name, field) in fields {
            let is_required = |required: &Vec<Json>| required.iter().any(|it| it == name);
            if !required.as_array().is_some_and(is_required) {
                take_null(field);
            }
        }
        if schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".into(), false.into());
        }
    }
    transform_subschemas(&mut closed, schema);
}

/// Takes null from the types of a field.
fn take_null(field: &mut Json) {
    if let Some(types) = field.get_mut("type").and_then(Json::as_array_mut) {
        types.retain(|it| it != "null");
        if let [only] = &types[..] {
            field["type"] = only.clone();
        }
    }
    if let Some(kinds) = field.get_mut("anyOf").and_then(Json::as_array_mut) {
        kinds.retain(|kind| *kind != json!({ "type": "null" }));
        if let [Json::Object(only)] = &kinds[..] {
            let only = only.clone();
            let field = field.as_object_mut().expect("a schema with keywords");
            field.remove("anyOf");
            field.extend(only);
        }
    }
}
