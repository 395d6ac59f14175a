//! Rows of the data surface.

pub(crate) mod activity_row;
pub(crate) mod answer_market_texts;
pub(crate) mod fill_row;
pub(crate) mod position_row;
