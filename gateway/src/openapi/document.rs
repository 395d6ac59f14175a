//! A document: the head of its words, and an operation for each route.

use std::collections::{BTreeMap, HashMap};

use foretell_wire::data::V2Error;
use foretell_wire::{ApiError, ErrorCode};
use http::StatusCode;
use serde_json::{Map, Value as Json, json};

use crate::http::failure::Failure;
use crate::http::operation::Operation;
use crate::http::route::Route;
use crate::http::surface::{ErrorShape, Surface};
use crate::openapi::schemas::Schemas;
use crate::openapi::words::{OperationWords, Words, json as example};
use crate::routes;

/// A document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Document {
    Trading,
    Data,
    Catalog,
    Operator,
    /// What the page adds to the trading surface; no surface serves it.
    Page,
}

impl Document {
    /// The surface that its routes are on, and its words.
    pub(super) const fn source(self) -> (Surface, &'static str) {
        match self {
            Self::Trading => (Surface::Trading, include_str!("words/trading.toml")),
            Self::Data => (Surface::Data, include_str!("words/data.toml")),
            Self::Catalog => (Surface::Catalog, include_str!("words/catalog.toml")),
            Self::Operator => (Surface::Operator, include_str!("words/operator.toml")),
            Self::Page => (Surface::Trading, include_str!("words/page.toml")),
        }
    }

    /// The document.
    ///
    /// # Panics
    /// When a route has no words, which a test finds.
    pub(super) fn render(self) -> Json {
        let (surface, words) = self.source();
        let mut words = Words::read(words);
        let mut schemas = Schemas::default();
        let mut paths: Map<String, Json> = Map::new();
        for route in routes::described(self) {
            let mut operation = Operation::new(surface, &route.method);
            operation.described.path = route.path;
            operation.described.schemas = schemas;
            route.describe(&mut operation);
            let id = id(&operation);
            let said = words.operations.remove(&id);
            let said = said.unwrap_or_else(|| panic!("{id} has no words"));
            let path = paths
                .entry(route.path.replace("{*", "{"))
                .or_insert_with(|| json!({}));
            path[route.method.as_str().to_lowercase()] = described(&operation, id, &route, said);
            schemas = operation.described.schemas;
        }
        if self == Self::Data {
            schemas.answer::<V2Error>();
        }
        let left: Vec<_> = words.operations.keys().collect();
        assert!(left.is_empty(), "words without a route: {left:?}");
        let mut document = json!({ "openapi": "3.1.0" });
        merge(&mut document, words.document);
        let responses = named(&mut paths);
        document["paths"] = paths.into();
        merge(
            &mut document,
            json!({ "components": { "responses": responses } }),
        );
        merge(&mut document, json!({ "components": components(surface) }));
        let schemas = schemas.by_name().into_iter().collect::<Map<_, _>>();
        merge(
            &mut document,
            json!({ "components": { "schemas": schemas } }),
        );
        document
    }
}

/// The name of an operation: method and path in snake case.
fn id(operation: &Operation) -> String {
    let mut words = vec![operation.method.as_str().to_lowercase()];
    let segments = operation.described.path.split('/');
    let segments = segments.filter(|segment| !segment.is_empty());
    words.extend(segments.map(|segment| {
        let name = segment.trim_matches(['{', '}', '*']);
        let by = if name == segment { "" } else { "by_" };
        format!("{by}{}", name.replace(['-', '.'], "_"))
    }));
    match operation.described.path {
        "/" => words.push("root".to_owned()),
        path if path.ends_with('/') => words.push("index".to_owned()),
        _ => {}
    }
    words.join("_")
}

/// An operation with its words.
fn described(operation: &Operation, id: String, route: &Route, words: OperationWords) -> Json {
    let summary = match (route.summary(), &words.summary) {
        (Some(summary), None) => summary,
        (None, Some(summary)) => summary,
        _ => panic!("{id} has two summaries, or none"),
    };
    let mut described = json!({ "operationId": id, "summary": summary });
    let mut say = |name: &str, value: Json| described[name] = value;
    if let Some(tag) = words.tag {
        say("tags", json!([tag]));
    }
    if let Some(description) = words.description {
        say("description", description.into());
    }
    if !operation.described.security.is_empty() {
        say("security", operation.described.security.clone().into());
    }
    if !operation.described.parameters.is_empty() {
        say("parameters", operation.described.parameters.clone().into());
    }
    if let Some(schema) = &operation.described.body {
        let text = words.body.as_deref();
        let text = text.unwrap_or_else(|| panic!("{id} has no example of its body"));
        let content = json!({ "schema": schema, "example": example(text) });
        let content = json!({ "application/json": content });
        say(
            "requestBody",
            json!({ "required": operation.described.is_body_required, "content": content }),
        );
    }
    let mut responses = Map::new();
    if let Some(schema) = &operation.described.answer {
        let mut content = json!({ "schema": schema });
        let named: Map<_, _> = (words.examples.iter())
            .map(|(name, text)| (name.clone(), json!({ "value": example(text) })))
            .collect();
        match &words.example {
            Some(text) => content["example"] = example(text),
            None if !named.is_empty() => content["examples"] = named.into(),
            None => panic!("{id} has no example of its answer"),
        }
        let answer = json!({
            "description": words.answer,
            "headers": headers(route, &["x-sequence", "x-epoch"]),
            "content": { "application/json": content },
        });
        responses.insert("200".to_owned(), answer);
    }
    responses.extend(failures(operation, route));
    if let Some(text) = &words.responses {
        let Json::Object(others) = example(text) else {
            panic!("{id}: answers by status")
        };
        responses.extend(others);
    }
    say("responses", responses.into());
    described
}

/// The answers of failures by status.
fn failures(operation: &Operation, route: &Route) -> impl Iterator<Item = (String, Json)> {
    let mut by_status = BTreeMap::<u16, Vec<ErrorCode>>::new();
    for code in operation.errors() {
        by_status.entry(code.status()).or_default().push(code);
    }
    let surface = operation.surface;
    let refusal = &operation.described.refusal;
    by_status.into_iter().map(move |(status, codes)| {
        let names: Vec<_> = codes.iter().map(|code| code.name()).collect();
        let mut headers = headers(route, &["x-sequence", "x-epoch"]);
        headers["x-error-code"] =
            json!({ "required": true, "schema": { "type": "string", "enum": names } });
        if codes.contains(&ErrorCode::Unauthorized) || codes.contains(&ErrorCode::UnauthorizedL1) {
            headers["x-auth-hint"] = reference("headers", "x-auth-hint");
        }
        if codes
            .iter()
            .all(|code| code.retry_after().is_some() || *code == ErrorCode::RateLimited)
        {
            headers["Retry-After"] = reference("headers", "Retry-After");
        }
        let shape = surface.error_shape(route.path);
        let mut schema = match shape {
            ErrorShape::Of(_) => reference("schemas", "Error"),
            ErrorShape::DataV2 => {
                headers["x-trace-id"] = json!({ "required": true, "schema": { "type": "string" } });
                reference("schemas", "ErrorV2")
            }
        };
        if refusal.0.contains(&status) {
            schema = json!({ "anyOf": [refusal.1, schema] });
        }
        let content = json!({
            "schema": schema,
            "example": body_of(codes[0], shape),
        });
        let status_words = StatusCode::from_u16(status).expect("a status");
        let answer = json!({
            "description": status_words.canonical_reason().unwrap_or_default(),
            "headers": headers,
            "content": { "application/json": content },
        });
        (status.to_string(), answer)
    })
}

/// Names the failures that several operations have, by their status and a number, and leaves
/// references to them.
fn named(paths: &mut Map<String, Json>) -> Map<String, Json> {
    let operations = paths.values_mut().filter_map(Json::as_object_mut);
    let operations = operations.flat_map(|methods| methods.values_mut());
    let mut responses: Vec<_> = operations
        .filter_map(|operation| operation["responses"].as_object_mut())
        .flat_map(|responses| responses.iter_mut())
        .filter(|(status, _)| status.starts_with(['4', '5']))
        .collect();
    let mut counts = HashMap::<String, usize>::new();
    for (_, response) in &responses {
        *counts.entry(response.to_string()).or_default() += 1;
    }
    let mut names = Map::new();
    let mut known = HashMap::<String, String>::new();
    for (status, response) in &mut responses {
        let text = response.to_string();
        if counts[&text] > 1 {
            let name = known.entry(text).or_insert_with(|| {
                let name = format!("{status}-{}", 1 + count_of(&names, status));
                names.insert(name.clone(), response.clone());
                name
            });
            **response = reference("responses", name);
        }
    }
    names
}

/// How many responses of a status have a name.
fn count_of(names: &Map<String, Json>, status: &str) -> usize {
    names.keys().filter(|name| name.starts_with(status)).count()
}

/// The body of an error whose values are their names.
fn body_of(code: ErrorCode, shape: ErrorShape) -> Json {
    let values = code.text().split('<').skip(1);
    let values = values.map(|rest| format!("<{}>", rest.split('>').next().unwrap_or_default()));
    let error = ApiError::new(code, values.collect());
    let body = Failure::from(error).render(shape).body;
    let mut body: Json = serde_json::from_slice(&body).expect("a failure is JSON");
    if let Some(trace_id) = body.get_mut("trace_id") {
        *trace_id = "8f8b7e5e64d241d1bc6e8d5eef76fc4e".into();
    }
    body
}

/// The headers of an answer.
fn headers(route: &Route, names: &[&str]) -> Json {
    let limits = ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];
    let limits = limits.into_iter().filter(|_| route.scope.is_some());
    let names = names.iter().copied().chain(limits);
    names
        .map(|name| (name.to_owned(), reference("headers", name)))
        .collect::<Map<_, _>>()
        .into()
}

fn reference(kind: &str, name: &str) -> Json {
    json!({ "$ref": format!("#/components/{kind}/{name}") })
}

/// What every document refers to.
fn components(surface: Surface) -> Json {
    let number = |description: &str| json!({ "description": description, "schema": { "type": "integer", "minimum": 0 } });
    let error = json!({ "type": "string" });
    let fields = match surface {
        Surface::Trading | Surface::Data => json!({ "error": error }),
        Surface::Operator | Surface::Health => json!({ "error": error, "code": error }),
        Surface::Catalog => json!({ "type": error, "error": error }),
    };
    let required: Vec<_> = fields
        .as_object()
        .expect("an object")
        .keys()
        .cloned()
        .collect();
    json!({
        "parameters": { "MinSequence": {
            "name": "x-min-sequence",
            "in": "header",
            "description": "Minimum sequence of the answer; the request waits up to 1 s, then 503.",
            "schema": { "type": "integer", "format": "int64", "minimum": 0 },
        } },
        "headers": {
            "x-sequence": number("Sequence of the state in the answer; of a write, its last command. Absent until the gateway has a state."),
            "x-epoch": number("Number of engine recoveries. Absent until the gateway has a state."),
            "RateLimit-Limit": number("Requests allowed in the window."),
            "RateLimit-Remaining": number("Requests left in the window."),
            "RateLimit-Reset": number("Seconds until the window ends."),
            "Retry-After": number("Seconds to wait before a retry."),
            "x-auth-hint": {
                "description": "The failed check, if `gateway.dev_auth_hints` is on.",
                "schema": { "type": "string" },
            },
        },
        "schemas": { "Error": {
            "type": "object",
            "additionalProperties": false,
            "required": required,
            "properties": fields,
        } },
    })
}

/// Adds the fields of an object to another one, at any depth.
fn merge(into: &mut Json, from: Json) {
    match (into, from) {
        (Json::Object(into), Json::Object(from)) => {
            for (name, value) in from {
                merge(into.entry(name).or_insert(Json::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}
