//! Readers of bodies, paths, query strings and cursors.

pub(crate) mod body;
pub mod family;
pub mod fields;
pub mod form;
pub(crate) mod forms;
pub(crate) mod json;
pub mod page;
pub(crate) mod pairs;
pub mod parameters;
pub mod path;
pub mod queries;
pub mod query;
pub mod reader;
pub mod text_form;

pub use body::RequestBody;
