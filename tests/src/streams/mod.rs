//! Clients of the streams: a connection whose bytes the test controls, and the book that a client
//! folds from what it reads.

mod book;
mod connection;

pub use book::{Books, book_hash};
pub use connection::{Connection, End};

use serde_json::Value;

/// The sequence of a message.
///
/// # Panics
/// It has none.
#[must_use]
pub fn sequence(message: &Value) -> u64 {
    number(message, "sequence")
}

/// A number that a message states as digits.
///
/// # Panics
/// The field is missing or has other characters.
#[must_use]
pub fn number(message: &Value, field: &str) -> u64 {
    let digits = message[field].as_str().and_then(|text| text.parse().ok());
    digits.unwrap_or_else(|| panic!("no {field} in {message}"))
}

/// The message without the time at which a gateway encoded it: equal for every receiver.
#[must_use]
pub fn timeless(message: &Value) -> Value {
    let mut message = message.clone();
    if let Some(fields) = message.as_object_mut() {
        fields.remove("server_ts_ms");
    }
    message
}
