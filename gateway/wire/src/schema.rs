//! JSON schemas of bodies and answers, from which the OpenAPI documents are made.
//!
//! They are made with the feature `documents` alone: a fifth of the gateway's machine code would
//! otherwise be there for files that are committed (`docs/openapi`). No crate of the workspace enables
//! it, because a build of all would then have it. Without it every type has a schema, which is empty.

#[cfg(feature = "documents")]
pub use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

#[cfg(not(feature = "documents"))]
pub use foretell_no_schemas::JsonSchema;

/// A type whose values the documents describe.
#[cfg(not(feature = "documents"))]
pub trait JsonSchema {}

#[cfg(not(feature = "documents"))]
impl<T: ?Sized> JsonSchema for T {}
