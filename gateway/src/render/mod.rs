//! Texts of books, markets, orders and trades.

pub(crate) mod book_cache;
pub(crate) mod book_source;
pub(crate) mod market_facts;
pub(crate) mod market_pages;
pub(crate) mod order_json;
pub(crate) mod trade_json;
pub(crate) mod withdrawal_json;
