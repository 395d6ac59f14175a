//! Rows of the data surface.

pub(crate) mod activity_row;
pub(crate) mod market_texts;
