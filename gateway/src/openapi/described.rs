//! What a document says of an operation beside its errors: parameters, bodies, answers, credentials.

use foretell_wire::read::RequestBody;
use foretell_wire::read::path::PathParameter;
use foretell_wire::read::query::parameter::Parameter;
use foretell_wire::schema::JsonSchema;
use serde_json::{Value as Json, json};

use crate::openapi::schemas::Schemas;

/// What a document says of an operation.
#[derive(Default)]
pub(crate) struct Described {
    pub(super) path: &'static str,
    /// The schemas of the document so far.
    pub(super) schemas: Schemas,
    pub(super) parameters: Vec<Json>,
    pub(super) body: Option<Json>,
    pub(super) is_body_required: bool,
    /// The schema of its answer; `None` when that is no JSON.
    pub(super) answer: Option<Json>,
    /// The statuses of failures that may have a body of their own, and its schema.
    pub(super) refusal: (&'static [u16], Json),
    pub(super) security: Vec<Json>,
}

impl Described {
    pub(crate) fn takes_sequence(&mut self) {
        let reference = json!({ "$ref": "#/components/parameters/MinSequence" });
        self.parameters.push(reference);
    }

    pub(crate) fn takes_query(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
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

    pub(crate) fn takes_word(&mut self, name: &str, description: &str, words: &[&str]) {
        self.parameters.push(json!({
            "name": name,
            "in": "query",
            "description": description,
            "schema": { "type": "string", "enum": words, "default": words[0] },
        }));
    }

    pub(crate) fn takes_path<T: PathParameter>(&mut self) {
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

    pub(crate) fn takes_body<T: RequestBody>(&mut self) {
        self.is_body_required = !T::IS_OPTIONAL;
        self.body = Some(self.schemas.body::<T>());
    }

    pub(crate) fn answers<T: JsonSchema>(&mut self) {
        self.answer = Some(self.schemas.answer::<T>());
    }

    pub(crate) fn refuses<T: JsonSchema>(&mut self, statuses: &'static [u16]) {
        self.refusal = (statuses, self.schemas.answer::<T>());
    }

    /// Needs these credentials together.
    pub(crate) fn needs(&mut self, schemes: &[&str]) {
        let schemes = schemes.iter().map(|name| ((*name).to_owned(), json!([])));
        self.security.push(Json::Object(schemes.collect()));
    }

    pub(crate) fn needs_signature(&mut self) {
        self.needs(&["Address", "Timestamp", "Signature"]);
        self.parameters.push(header(
            "SERVICE_NONCE",
            "Decimal uint256; 0 when absent.",
            json!({ "type": "string", "pattern": "^[0-9]{1,78}$" }),
        ));
        self.parameters.push(header(
            "X-Chain-Id",
            "Chain id of the client; any other chain than the deployment's is 400.",
            json!({ "type": "integer", "minimum": 1 }),
        ));
    }

    pub(crate) fn needs_key(&mut self, is_read: bool) {
        self.needs(&["Address", "ApiKey", "Passphrase", "Timestamp", "Signature"]);
        if is_read {
            self.needs(&["Address", "ReadOnlyApiKey"]);
        }
    }

    pub(crate) fn requires_header(&mut self, name: &str, description: &str, pattern: &str) {
        let schema = json!({ "type": "string", "pattern": pattern });
        let mut header = header(name, description, schema);
        header["required"] = true.into();
        self.parameters.push(header);
    }
}

fn header(name: &str, description: &str, schema: Json) -> Json {
    json!({ "name": name, "in": "header", "description": description, "schema": schema })
}
