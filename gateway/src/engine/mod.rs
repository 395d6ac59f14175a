//! The link to the engine, and its cluster.

pub(crate) mod cluster;
pub(crate) mod engine_link;
pub(crate) mod waiting_cancels;
