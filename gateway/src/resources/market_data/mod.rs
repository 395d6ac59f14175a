//! Books, prices and markets.

pub(crate) mod books;
pub(crate) mod live_activity;
pub(crate) mod market_info;
pub(crate) mod market_lists;
pub(crate) mod prices;
pub(crate) mod prices_history;
