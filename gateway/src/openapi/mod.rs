//! The OpenAPI documents: committed in `docs/openapi`, and served from the binary. With the feature
//! `documents`, tests make them of what the routes say of themselves and of the words of `words/`.

#[cfg(feature = "documents")]
pub(crate) mod described;
#[cfg(all(test, feature = "documents"))]
mod document;
#[cfg(feature = "documents")]
mod schemas;
pub(crate) mod served;
#[cfg(all(test, feature = "documents"))]
mod tests;
#[cfg(all(test, feature = "documents"))]
mod words;

#[cfg(all(test, feature = "documents"))]
pub(crate) use document::Document;
