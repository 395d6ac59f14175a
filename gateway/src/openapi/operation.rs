//! A route as the documents describe it. Handlers add what their signatures say.

use foretell_wire::ErrorCode;
use foretell_wire::read::RequestBody;
use foretell_wire::read::path::PathParameter;
use foretell_wire::read::query::parameters::Parameters;
use http::Method;
use schemars::JsonSchema;
use serde_json::{Value as Json, json};

use crate::http::surface::Surface;
use crate::openapi::schemas::Schemas;

/// A route as a document describes it.
pub(crate) struct Operation<'s> {
    schemas: &'s mut Schemas,
    surface: Surface,
    pub(crate) method: Method,
    path: &'static str,
    pub(super) parameters: Vec<Json>,
    pub(super) body: Option<Json>,
    pub(super) is_body_required: bool,
    /// The schema of its answer; `None` when that is no JSON.
    pub(super) answer: Option<Json>,
    /// The statuses of failures that may have a body of their own, and its schema.
    pub(super) refusal: (&'static [u16], Json),
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
const STATE: &[ErrorCode] = &[
    ErrorCode::Recovering,
    ErrorCode::ViewStopped,
    ErrorCode::SequenceNotReached,
];
const FRESH: &[ErrorCode] = &[
    ErrorCode::InvalidField,
    ErrorCode::SequenceTooFarAhead,
    ErrorCode::TooManyWaiters,
];
/// Errors of everything that waits for the engine.
const WRITE: &[ErrorCode] = &[
    ErrorCode::EngineUnavailable,
    ErrorCode::Busy,
    ErrorCode::DiskLow,
    ErrorCode::OutcomeUnknown,
    ErrorCode::NotLeading,
    ErrorCode::DoneUnshown,
    ErrorCode::DoneNotYetShown,
];

impl<'s> Operation<'s> {
    /// A route of which nothing else is known.
    pub(crate) fn new(
        surface: Surface,
        method: &Method,
        path: &'static str,
        schemas: &'s mut Schemas,
    ) -> Self {
        let mut operation = Self {
            schemas,
            surface,
            method: method.clone(),
            path,
            parameters: Vec::new(),
            body: None,
            is_body_required: false,
            answer: None,
            refusal: (&[], Json::Null),
            security: Vec::new(),
            errors: ALWAYS.to_vec(),
        };
        match surface {
            Surface::Data => operation.fails(&[ErrorCode::AddressNotAllowed]),
            Surface::Operator => operation.fails(&[ErrorCode::HostNotAllowed]),
            _ => {}
        }
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
        match self.path {
            "/" => words.push("root".to_owned()),
            path if path.ends_with('/') => words.push("index".to_owned()),
            _ => {}
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

    /// Waits for the engine. The body is read, also where the handler ignores it.
    pub(crate) fn writes(&mut self) {
        self.fails(BODY);
        self.fails(STATE);
        self.fails(WRITE);
    }

    /// Shows a state of the exchange.
    pub(crate) fn shows_state(&mut self) {
        self.fails(STATE);
    }

    /// Waits for the state that the request asks for.
    pub(crate) fn waits_for_sequence(&mut self) {
        let reference = json!({ "$ref": "#/components/parameters/MinSequence" });
        self.parameters.push(reference);
        self.fails(FRESH);
    }

    /// Needs the token of an operator; `is_role_checked` unless all roles may send it.
    pub(crate) fn needs_operator(&mut self, is_role_checked: bool) {
        self.security.push(json!({ "Token": [] }));
        self.fails(STATE);
        self.fails(&[ErrorCode::OperatorUnauthorized]);
        if is_role_checked {
            self.fails(&[ErrorCode::OperatorRole]);
        }
    }

    /// Adds a parameter.
    pub(crate) fn takes(&mut self, parameter: Json) {
        self.parameters.push(parameter);
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
            if schema["type"] == "boolean" {
                let text = format!("{} `1` and `0` are accepted.", parameter.description);
                described["description"] = text.into();
            }
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
        let schema = self.schemas.path::<T>();
        let segments = self.path.split('/');
        let name = segments.filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let name = name.map(|name| name.trim_start_matches('*'));
        self.parameters.extend(
            name.map(
                |name| json!({ "name": name, "in": "path", "required": true, "schema": schema }),
            ),
        );
    }

    /// Adds the errors of a body that a request may have in place of its query.
    pub(crate) fn may_take_body<T: RequestBody>(&mut self) {
        self.fails(BODY);
        self.fails(T::ERRORS);
    }

    /// Adds a body.
    pub(crate) fn takes_body<T: RequestBody>(&mut self) {
        self.may_take_body::<T>();
        self.is_body_required = !T::IS_OPTIONAL;
        self.body = Some(self.schemas.body::<T>());
    }

    /// States the answer.
    pub(crate) fn answers<T: JsonSchema>(&mut self) {
        self.answer = Some(self.schemas.answer::<T>());
    }

    /// States the body that failures with some statuses may have.
    pub(crate) fn refuses<T: JsonSchema>(&mut self, statuses: &'static [u16]) {
        self.refusal = (statuses, self.schemas.answer::<T>());
    }

    /// Needs a signature of a wallet.
    pub(crate) fn needs_signature(&mut self) {
        self.security
            .push(json!({ "Address": [], "Timestamp": [], "Signature": [] }));
        self.takes_header(
            "SERVICE_NONCE",
            "Decimal uint256; 0 when absent.",
            json!({ "type": "string", "pattern": "^[0-9]{1,78}$" }),
        );
        self.takes_header(
            "X-Chain-Id",
            "Chain id of the client; any other chain than the deployment's is 400.",
            json!({ "type": "integer", "minimum": 1 }),
        );
        self.fails(&[
            ErrorCode::UnauthorizedL1,
            ErrorCode::WrongChain,
            ErrorCode::InvalidNonce,
            ErrorCode::Busy,
        ]);
    }

    fn takes_header(&mut self, name: &str, description: &str, schema: Json) {
        self.takes(header(name, description, schema));
    }

    /// Adds a header without which the request fails.
    pub(crate) fn requires_header(&mut self, name: &str, description: &str, schema: Json) {
        let mut header = header(name, description, schema);
        header["required"] = true.into();
        self.takes(header);
    }

    /// Needs an API key; to read (`is_read`), a read-only one is enough.
    pub(crate) fn needs_key(&mut self, is_read: bool) {
        let full = ["Address", "ApiKey", "Passphrase", "Timestamp", "Signature"];
        let full = full.map(|name| (name.to_owned(), json!([])));
        self.security.push(Json::Object(full.into_iter().collect()));
        if is_read {
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

fn header(name: &str, description: &str, schema: Json) -> Json {
    json!({ "name": name, "in": "header", "description": description, "schema": schema })
}
