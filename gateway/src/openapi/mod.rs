//! The OpenAPI documents: what the routes say of themselves, with the words of `words/`.

mod document;
pub(crate) mod operation;
pub(crate) mod schemas;
pub(crate) mod served;
mod words;

pub(crate) use document::Document;

#[cfg(test)]
mod tests;
