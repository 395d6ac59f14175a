//! Readers of bodies, paths, query strings and cursors.

pub(crate) mod body;
pub mod form;
pub(crate) mod forms;
pub(crate) mod json;
pub mod page;
pub(crate) mod pairs;
pub mod path;
pub mod query;
pub mod texts;

pub use body::RequestBody;
