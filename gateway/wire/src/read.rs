//! Readers of bodies, query strings and cursors.

pub(crate) mod body;
pub mod family;
pub mod fields;
pub(crate) mod json;
pub mod page;
pub(crate) mod pairs;
pub mod parameters;
pub mod queries;
pub mod query;
pub mod reader;
pub mod text_form;
