//! Readers of bodies, query strings and cursors.

pub(crate) mod body;
pub(crate) mod json;
pub mod page;
pub(crate) mod pairs;
pub mod query;
