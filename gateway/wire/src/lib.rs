//! The public JSON, in and out. No other crate contains it.
//!
//! Requests become typed values, read with [`read`]; typed answers become text: [`orders`], [`markets`],
//! [`accounts`], [`data`], [`operator`], [`streams`]. [`errors`] has every error, [`text`] every number
//! format.
//!
//! Not here: HTTP, headers and routes (gateway), signatures (auth), the journal, and the read
//! model. The gateway fills answers from its view.

// Attributes of schemas name much that the code does not. With the feature every import is needed.
#![cfg_attr(
    not(feature = "documents"),
    allow(unused_imports, clippy::extra_unused_type_parameters)
)]

pub mod accounts;
pub mod catalog;
pub mod checkpoint;
pub mod compatibility;
pub mod data;
pub mod errors;
pub mod limits;
pub mod markets;
pub mod notices;
pub mod operator;
pub mod orders;
pub mod read;
pub mod schema;
pub mod streams;
pub mod text;
pub mod values;
pub use values as written;

pub use compatibility::Compatibility;
pub use errors::api_error::ApiError;
pub use errors::error_code::ErrorCode;
pub use text::decimal::Decimal;
pub use text::ids::TokenRef;

/// Compact JSON of an answer.
#[must_use]
pub fn json_text<T: serde::Serialize>(answer: &T) -> String {
    serde_json::to_string(answer).expect("answers have text keys and no failing serializer")
}
