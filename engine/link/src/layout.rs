//! Layout and size limits of messages on the engine socket.
//!
//! ```text
//! 0        4      5      8
//! | length | kind | zero | payload: `length` bytes
//! ```
//! Integers are little-endian. A *record* below is that of [`foretell_model::record`].
//!
//! | kind | name | payload |
//! |---|---|---|
//! | 1 | Hello | version u32, role u8, name: 0 to 64 bytes of UTF-8 |
//! | 2 | Submit | request u64, operator u16, record of the command, evidence: the rest |
//! | 3 | Heartbeat | record |
//! | 4 | Status | request u64 |
//! | 5 | Snapshot | request u64 |
//! | 6 | Replace | request u64, flags u8 (1: places need all cancels), then for each command: record, length of its evidence u16, evidence |
//! | 128 | Welcome | record |
//! | 129 | Reply | record |
//! | 130 | Busy | record |
//! | 131 | Heartbeat | record |
//! | 132 | Status | record |
//! | 133 | Goodbye | record |
//! | 134 | Snapshot | record |

use foretell_model::Command;
use foretell_model::limits::{
    MAX_EVIDENCE_BYTES, MAX_GROUP, MAX_GROUP_EVIDENCE_BYTES, MAX_REPLACE,
};
use foretell_model::record::{self, Record};

use crate::status::Status;

/// Bytes of a message header.
pub const HEADER_BYTES: usize = 8;
/// Longest name in a Hello, in bytes.
pub const MAX_NAME_BYTES: usize = 64;
/// Longest payload of a request: a command with the largest evidence.
pub const MAX_REQUEST_BYTES: usize = 8 + 2 + Command::BYTES + MAX_EVIDENCE_BYTES;
const _: () = assert!(
    9 + MAX_GROUP * (Command::BYTES + 2) + MAX_REPLACE * MAX_GROUP_EVIDENCE_BYTES
        <= MAX_REQUEST_BYTES
);
/// Longest payload of an answer: a status.
pub const MAX_ANSWER_BYTES: usize = Status::BYTES;

pub(crate) const HELLO: u8 = 1;
pub(crate) const SUBMIT: u8 = 2;
pub(crate) const HEARTBEAT: u8 = 3;
pub(crate) const STATUS: u8 = 4;
pub(crate) const SNAPSHOT: u8 = 5;
pub(crate) const REPLACE: u8 = 6;
pub(crate) const WELCOME: u8 = 128;
pub(crate) const REPLY: u8 = 129;
pub(crate) const BUSY: u8 = 130;
pub(crate) const HEARTBEAT_ANSWER: u8 = 131;
pub(crate) const STATUS_ANSWER: u8 = 132;
pub(crate) const GOODBYE: u8 = 133;
pub(crate) const SNAPSHOT_ANSWER: u8 = 134;

/// Appends a message whose payload `fill` writes. The bounds above keep the payload below 2^32
/// bytes.
pub(crate) fn write(kind: u8, out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[0, 0, 0, 0, kind, 0, 0, 0]);
    fill(out);
    let length = u32::try_from(out.len() - start - HEADER_BYTES)
        .expect("a payload is bounded by MAX_REQUEST_BYTES");
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// Appends the record of a value.
pub(crate) fn put_record<T: Record>(value: &T, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + T::BYTES, 0);
    record::encode(value, &mut out[start..]);
}
