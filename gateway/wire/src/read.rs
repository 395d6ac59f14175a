//! Readers of bodies, paths, query strings and cursors.

pub(crate) mod body;
pub(crate) mod json;
pub mod page;
pub(crate) mod pairs;
pub mod path;
pub mod query;

pub use body::RequestBody;
