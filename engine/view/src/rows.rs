//! The parts of the view, and their rows: each type with its byte form.

pub(crate) mod account_market_lists;
pub(crate) mod accounts;
pub(crate) mod actions;
pub(crate) mod balance;
pub(crate) mod books;
pub(crate) mod builders;
pub(crate) mod events;
pub(crate) mod holders;
pub(crate) mod keys;
pub(crate) mod markets;
pub(crate) mod midpoints;
pub(crate) mod order;
pub(crate) mod orders;
pub(crate) mod position;
pub(crate) mod positions;
pub(crate) mod row_filter;
pub(crate) mod system;
pub(crate) mod trade;
pub(crate) mod trade_entry;
pub(crate) mod trade_id;
pub(crate) mod trade_list;
pub(crate) mod trade_slot;
pub(crate) mod trade_summary;
pub(crate) mod trades;
pub(crate) mod volume;
