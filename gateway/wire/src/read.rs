//! Readers of bodies, query strings and cursors.

pub mod family;
pub mod form;
pub(crate) mod forms;
pub(crate) mod json;
pub mod page;
pub(crate) mod pairs;
pub mod parameters;
pub mod path;
pub mod queries;
pub mod query;
pub(crate) mod reader;
pub mod text_form;

pub use reader::RequestBody;
