//! The words of the documents: everything that the code does not say. One file for each document:
//! the head, and the operations by their ids.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

/// A document's words.
#[derive(Deserialize)]
pub(super) struct Words {
    /// `info`, `servers`, `tags` and `components` of the document.
    pub(super) document: Json,
    pub(super) operations: BTreeMap<String, OperationWords>,
}

/// An operation's words. Examples are JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OperationWords {
    /// What it does; an operator's act says it itself.
    pub(super) summary: Option<String>,
    pub(super) description: Option<String>,
    pub(super) tag: Option<String>,
    /// An example of the body.
    pub(super) body: Option<String>,
    /// What the answer is.
    pub(super) answer: String,
    /// An example of the answer; or several, by name.
    pub(super) example: Option<String>,
    #[serde(default)]
    pub(super) examples: BTreeMap<String, String>,
    /// Answers that are no JSON, or have another status, as the document has them.
    pub(super) responses: Option<String>,
}

impl Words {
    /// Reads the words of a document.
    ///
    /// # Panics
    /// When they are malformed, which a test finds.
    pub(super) fn read(text: &str) -> Self {
        toml::from_str(text).expect("the words of a document")
    }
}

/// An example.
pub(super) fn json(text: &str) -> Json {
    serde_json::from_str(text).expect("an example is JSON")
}
