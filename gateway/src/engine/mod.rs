//! The link to the engine, and its cluster.

pub(crate) mod cluster;
mod engine_clock;
pub(crate) mod engine_link;
pub(crate) mod outcome;
pub(crate) mod waiting_cancels;
