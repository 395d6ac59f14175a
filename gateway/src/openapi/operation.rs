//! A route as the documents describe it. Handlers add what their signatures say.

use foretell_wire::ErrorCode;
use foretell_wire::read::RequestBody;
use foretell_wire::read::path::PathParameter;
use foretell_wire::read::query::parameters::Parameters;
use http::Method;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value as Json, json};

use crate::access::credentials::KeyAccess;
use crate::http::endpoint::Freshness;
use crate::http::route::Route;
use crate::http::surface::Surface;

/// The schemas of a document. Bodies and answers have their own, because a field that a client may
/// leave out is always in an answer.
pub(crate) struct Schemas {
    bodies: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Schemas {
    pub(crate) fn new() -> Self {
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

    /// The schemas by name.
    ///
    /// # Panics
    /// When two types have one name, which a test finds.
    pub(super) fn by_name(mut self) -> serde_json::Map<String, Json> {
        let mut all = self.bodies.take_definitions(true);
        let mut answers = self.answers.take_definitions(true);
        for schema in answers.values_mut() {
            let schema: &mut Schema = schema.try_into().expect("a schema");
            closed(schema);
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

/// Allows no fields but those named, at any depth: answers have no others.
fn closed(schema: &mut Schema) {
    if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
        schema.insert("additionalProperties".into(), false.into());
    }
    transform_subschemas(&mut closed, schema);
}

/// A route as a document describes it.
pub(crate) struct Operation<'s> {
    schemas: &'s mut Schemas,
    surface: Surface,
    pub(crate) method: Method,
    path: &'static str,
    pub(super) parameters: Vec<Json>,
    pub(super) body: Option<Json>,
    /// The schema of its answer; `None` when that is no JSON.
    pub(super) answer: Option<Json>,
    pub(super) security: Vec<Json>,
    errors: Vec<ErrorCode>,
}

/// Errors of everything that a request may meet before its handler runs.
const ALWAYS: &[ErrorCode] = &[ErrorCode::Internal, ErrorCode::AnswersUnread];
const BODY: &[ErrorCode] = &[
    ErrorCode::BodyTooLarge,
    ErrorCode::BodyTimeout,
    ErrorCode::BodyIncomplete,
    ErrorCode::UnsupportedMediaType,
    ErrorCode::Busy,
];
const STATE: &[ErrorCode] = &[ErrorCode::Recovering, ErrorCode::ViewStopped];
const FRESH: &[ErrorCode] = &[
    ErrorCode::InvalidField,
    ErrorCode::SequenceTooFarAhead,
    ErrorCode::SequenceNotReached,
    ErrorCode::TooManyWaiters,
];
/// Of everything that waits for the engine.
const WRITE: &[ErrorCode] = &[
    ErrorCode::EngineUnavailable,
    ErrorCode::Busy,
    ErrorCode::DiskLow,
    ErrorCode::OutcomeUnknown,
    ErrorCode::NotLeading,
];

impl<'s> Operation<'s> {
    /// What a route says of itself.
    pub(crate) fn of(route: &Route, surface: Surface, schemas: &'s mut Schemas) -> Self {
        let mut operation = Self {
            schemas,
            surface,
            method: route.method.clone(),
            path: route.path,
            parameters: Vec::new(),
            body: None,
            answer: None,
            security: Vec::new(),
            errors: ALWAYS.to_vec(),
        };
        if surface == Surface::Data {
            operation.fails(&[ErrorCode::AddressNotAllowed]);
        }
        if route.scope.is_some() {
            operation.fails(&[ErrorCode::RateLimited]);
        }
        if route.is_write {
            operation.fails(STATE);
            operation.fails(WRITE);
        }
        if route.operators.is_some() {
            operation.security.push(json!({ "Token": [] }));
            operation.fails(STATE);
            operation.fails(&[ErrorCode::OperatorUnauthorized, ErrorCode::OperatorRole]);
        }
        (route.describe)(&mut operation);
        if route.freshness != Freshness::Any {
            operation.fails(STATE);
        }
        if route.freshness == Freshness::Requested {
            let reference = json!({ "$ref": "#/components/parameters/MinSequence" });
            operation.parameters.push(reference);
            operation.fails(FRESH);
        }
        route.errors.iter().for_each(|codes| operation.fails(codes));
        operation
    }

    /// Its name: method and path in snake case.
    pub(super) fn id(&self) -> String {
        let mut words = vec![self.method.as_str().to_lowercase()];
        let segments = self.path.split('/').filter(|segment| !segment.is_empty());
        words.extend(segments.map(|segment| {
            let name = segment.trim_matches(['{', '}', '*']);
            let by = if name == segment { "" } else { "by_" };
            format!("{by}{}", name.replace(['-', '.'], "_"))
        }));
        if words.len() == 1 {
            words.push("root".to_owned());
        }
        words.join("_")
    }

    /// The codes of its errors by status.
    pub(crate) fn errors(&self) -> Vec<ErrorCode> {
        let mut codes = self.errors.clone();
        codes.sort_by_key(|code| (code.status(), code.name()));
        codes.dedup();
        codes
    }

    /// Adds errors.
    pub(crate) fn fails(&mut self, codes: &[ErrorCode]) {
        self.errors.extend(codes);
    }

    /// Adds the parameters of a query.
    pub(crate) fn takes_query<T: Parameters>(&mut self) {
        self.fails(T::FAMILY.codes());
        for parameter in T::PARAMETERS {
            self.fails(&(parameter.codes)());
            let schema = (parameter.schema)();
            let mut described = json!({
                "name": parameter.name,
                "in": "query",
                "description": parameter.description,
            });
            match parameter.is_required {
                true => described["required"] = true.into(),
                false => described["allowEmptyValue"] = true.into(),
            }
            if schema["type"] == "array" {
                let text = format!("{} Comma-separated or repeated.", parameter.description);
                described["description"] = text.into();
                described["style"] = "form".into();
                described["explode"] = false.into();
            }
            described["schema"] = schema;
            self.parameters.push(described.clone());
            if let Some(alias) = parameter.alias {
                described["name"] = alias.into();
                described["description"] = format!("The same as `{}`.", parameter.name).into();
                self.parameters.push(described);
            }
        }
    }

    /// Adds the parameter of the path.
    pub(crate) fn takes_path<T: PathParameter>(&mut self) {
        self.fails(T::ERRORS);
        self.fails(&[ErrorCode::PathTooLong]);
        let schema = self.schemas.bodies.subschema_for::<T::Schema>();
        let segments = self.path.split('/');
        let name = segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        self.parameters.extend(
            name.map(
                |name| json!({ "name": name, "in": "path", "required": true, "schema": schema }),
            ),
        );
    }

    /// Adds a body.
    pub(crate) fn takes_body<T: RequestBody>(&mut self) {
        self.fails(BODY);
        self.fails(T::ERRORS);
        self.body = Some(T::schema(&mut self.schemas.bodies).to_value());
    }

    /// States the answer.
    pub(crate) fn answers<T: JsonSchema>(&mut self) {
        let mut schema = self.schemas.answers.subschema_for::<T>();
        closed(&mut schema);
        self.answer = Some(schema.to_value());
    }

    /// Needs a signature of a wallet.
    pub(crate) fn needs_signature(&mut self) {
        self.security
            .push(json!({ "Address": [], "Timestamp": [], "Signature": [] }));
        self.fails(&[
            ErrorCode::UnauthorizedL1,
            ErrorCode::WrongChain,
            ErrorCode::InvalidNonce,
            ErrorCode::Busy,
        ]);
    }

    /// Needs an API key.
    pub(crate) fn needs_key(&mut self, access: KeyAccess) {
        let full = ["Address", "ApiKey", "Passphrase", "Timestamp", "Signature"];
        let full = full.map(|name| (name.to_owned(), json!([])));
        self.security.push(Json::Object(full.into_iter().collect()));
        if access == KeyAccess::Read {
            self.security
                .push(json!({ "Address": [], "ReadOnlyApiKey": [] }));
        }
        self.fails(STATE);
        self.fails(&[ErrorCode::Unauthorized]);
    }

    /// The surface whose document it is in.
    pub(super) const fn surface(&self) -> Surface {
        self.surface
    }
}
