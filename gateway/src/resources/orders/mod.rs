//! Orders and quotes: placing, cancelling, replacing, listing.

pub(crate) mod builder_trades;
pub(crate) mod cancels;
pub(crate) mod decrease;
pub(crate) mod heartbeats;
pub(crate) mod my_orders;
pub(crate) mod my_trades;
pub(crate) mod place;
pub(crate) mod quotes;
pub(crate) mod replace;
