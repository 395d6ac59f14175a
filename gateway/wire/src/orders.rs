//! Orders, quotes and cancels in, results and trades out.

pub mod action;
pub mod cancel;
pub mod decrease;
pub mod fill_id;
pub mod order;
pub mod quotes;
pub mod replace;
pub mod result;
pub mod trade;
pub mod user_order;
