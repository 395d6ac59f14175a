//! The commands' answers: the report, the state at a point, frames, tables, differences.

pub(crate) mod counts;
pub(crate) mod diff;
pub(crate) mod export;
pub(crate) mod lookup;
pub(crate) mod operators;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod set_aside;
pub(crate) mod shown_frame;
