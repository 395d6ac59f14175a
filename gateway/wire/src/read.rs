//! Readers of bodies, query strings and cursors.

pub mod form;
pub(crate) mod forms;
pub(crate) mod json;
pub mod page;
pub(crate) mod pairs;
pub mod query;
pub(crate) mod reader;

pub use reader::RequestBody;
