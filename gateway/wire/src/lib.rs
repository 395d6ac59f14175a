//! The public JSON, in and out: the only crate that knows it.
//!
//! Text in becomes typed requests ([`order`], [`cancel`], [`batch`], [`action`], [`operator`],
//! [`query`], [`data`]); typed answers become text ([`result`], [`book`], [`price`], [`user_order`],
//! [`trade`], [`market`], [`account`], [`history`], [`page`]). [`failure`] is every way to say no, [`decimal`]
//! every way to write a number.
//!
//! Deliberately absent: HTTP, headers and routes (the gateway's), signatures (auth's), the
//! journal, and the read model: answers are filled by the gateway from what it has.

pub mod account;
pub mod action;
pub mod batch;
mod body;
pub mod book;
pub mod cancel;
pub mod checkpoint;
pub mod data;
pub mod decimal;
mod depth;
pub mod failure;
pub mod history;
pub mod history_range;
pub mod ids;
mod json;
pub mod limits;
pub mod market;
pub mod operator;
pub mod order;
pub mod page;
mod pairs;
pub mod price;
pub mod printable;
pub mod query;
pub mod refusal;
pub mod result;
pub mod time;
pub mod trade;
pub mod user_order;

pub use decimal::Decimal;
pub use failure::Failure;
pub use ids::TokenRef;

/// Compact JSON of an answer.
#[must_use]
pub fn json_text<T: serde::Serialize>(answer: &T) -> String {
    serde_json::to_string(answer).expect("answers have text keys and no failing serializer")
}
