//! Health, checkpoints, raw records, and what is not offered.

pub(crate) mod checkpoints;
pub(crate) mod health;
pub(crate) mod raw_records;
pub(crate) mod unsupported_features;
