//! One measurement a file.

pub mod catalog;
pub mod data;
mod encoding;
pub mod entry;
pub mod journal;
pub mod load;
pub mod markets;
pub mod matching;
pub mod reads;
pub mod recover;
pub mod replay;
pub mod snapshots;
pub mod start;
pub(crate) mod step;
