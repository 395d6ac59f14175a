//! Books, prices, markets, histories.

pub mod batch;
pub mod book;
pub(crate) mod depth;
pub mod history;
pub mod history_range;
pub mod live_activity;
pub mod market;
pub mod market_life;
pub mod price;
