//! The messages of the streams (docs/api/streams.md): one JSON object each, `event_type` first,
//! [`Stamp`] last.
//!
//! Most messages derive their text from the struct that the gateway fills. A `…Json` struct stands behind a message whose
//! text renames, computes or leaves out fields: orders, trades, `market_status`, `new_market`, `market_resolved`,
//! heartbeats. Written from `json!` instead, a `resumed` takes 490 ns in place of 283.

pub mod extension;
pub mod market;
pub mod request;
pub mod status;
pub mod user;

use serde::Serialize;

use foretell_model::{Sequence, TimeMs};

/// The fields that end every message.
#[derive(Clone, Copy, Debug)]
pub struct Stamp<'a> {
    /// The frame that the message reports.
    pub sequence: Sequence,
    /// The previous frame with a message about the same market; `None` on messages outside a
    /// market's chain.
    pub prev_sequence: Option<Sequence>,
    /// The journal: [`stream_id`] of its genesis.
    pub stream_id: &'a str,
    /// When this gateway wrote it.
    pub server_time: TimeMs,
}

/// The `stream_id` of a journal: the first 8 bytes of its branch in hex (docs/verify/rules.md §31).
#[must_use]
pub fn stream_id(branch: &[u8; 32]) -> String {
    hex::encode(&branch[..8])
}

/// A message: `event_type`, the fields of `body`, the stamp.
#[must_use]
pub fn message<T: Serialize>(event_type: &str, body: &T, stamp: &Stamp<'_>) -> String {
    stamped(event_type, &crate::json_text(body), stamp)
}

/// As [`message`], for a JSON object with at least one field.
fn stamped(event_type: &str, object: &str, stamp: &Stamp<'_>) -> String {
    let fields = (object.strip_prefix('{')).and_then(|object| object.strip_suffix('}'));
    let fields = fields.expect("a message is an object");
    let previous = stamp.prev_sequence.map_or_else(String::new, |previous| {
        format!(r#","prev_sequence":"{}""#, previous.0)
    });
    format!(
        r#"{{"event_type":"{event_type}",{fields},"sequence":"{}"{previous},"stream_id":"{}","server_ts_ms":"{}"}}"#,
        stamp.sequence.0, stamp.stream_id, stamp.server_time.0,
    )
}
