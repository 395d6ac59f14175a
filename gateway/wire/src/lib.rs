//! The public JSON, in and out. No other crate contains it.
//!
//! Requests become typed values ([`order`], [`cancel`], [`batch`], [`action`], [`operator`],
//! [`query`], [`data`]); typed answers become text ([`result`], [`book`], [`price`],
//! [`user_order`], [`trade`], [`live_activity`], [`market`], [`account`], [`history`], [`page`]). [`api_error`] has
//! every error, [`decimal`] every number format.
//!
//! Not here: HTTP, headers and routes (gateway), signatures (auth), the journal, and the read
//! model. The gateway fills answers from its view.

pub mod account;
pub mod action;
pub mod api_error;
pub mod batch;
mod body;
pub mod book;
pub mod cancel;
pub mod catalog;
pub mod checkpoint;
pub mod data;
pub mod decimal;
mod depth;
pub mod error_code;
pub mod history;
pub mod history_range;
pub mod ids;
mod json;
pub mod limits;
pub mod live_activity;
pub mod market;
pub mod market_life;
pub mod operator;
pub mod order;
pub mod page;
mod pairs;
pub mod price;
pub mod printable;
pub mod query;
pub mod rebates;
pub mod rejection;
pub mod replace;
pub mod result;
pub mod streams;
pub mod time;
pub mod trade;
pub mod user_order;

pub use api_error::ApiError;
pub use decimal::Decimal;
pub use error_code::ErrorCode;
pub use ids::TokenRef;

/// Compact JSON of an answer.
#[must_use]
pub fn json_text<T: serde::Serialize>(answer: &T) -> String {
    serde_json::to_string(answer).expect("answers have text keys and no failing serializer")
}
