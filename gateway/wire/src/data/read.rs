//! Parameters of the data surface.

pub(crate) mod cursor;
pub(crate) mod errors;
pub(crate) mod market_selection;
pub(crate) mod page;
pub(crate) mod time_range;
