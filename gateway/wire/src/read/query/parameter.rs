//! A parameter of a query.

#[cfg(feature = "documents")]
use serde_json::Value as Json;

use crate::errors::error_code::ErrorCode;

/// A parameter, as a reader and the OpenAPI document need it.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// A second spelling.
    pub alias: Option<&'static str>,
    /// Its name in version 2 of the data surface, which is the name of the struct's field.
    pub v2: &'static str,
    /// Whether a request without it is an error.
    pub is_required: bool,
    /// The documentation of the struct's field.
    pub description: &'static str,
    /// Codes of its errors, where their texts are fixed.
    pub codes: fn() -> Vec<ErrorCode>,
    /// The JSON schema of its value.
    #[cfg(feature = "documents")]
    pub schema: fn() -> Json,
}

impl Parameter {
    pub(crate) const NONE: Self = Self {
        name: "",
        alias: None,
        v2: "",
        is_required: false,
        description: "",
        codes: Vec::new,
        #[cfg(feature = "documents")]
        schema: || Json::Null,
    };

    /// A parameter of one spelling in both versions.
    pub(crate) const fn new(name: &'static str, description: &'static str) -> Self {
        Self {
            name,
            v2: name,
            description,
            ..Self::NONE
        }
    }

    /// Its name and its second spelling.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &'static str> + use<> {
        [Some(self.name), self.alias].into_iter().flatten()
    }

    pub(crate) fn spells(&self, name: &str) -> bool {
        self.name == name || self.alias == Some(name)
    }
}
