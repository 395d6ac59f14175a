//! Every bound of the exchange, in one place, with assertions on how they relate.

use crate::quantity::{Lots, Micros};

/// Largest order: 10^9 shares.
pub const MAX_ORDER_LOTS: Lots = Lots(100_000_000_000);
/// Largest balance of an account, and, because it also bounds all deposits less withdrawals taken
/// together, the largest supply of any token: 10^15 micros (protocol 1). With it no sum in the
/// exchange can overflow.
pub const MAX_BALANCE: Micros = Micros(1_000_000_000_000_000);
/// Resting orders one command may touch: fill, cancel, or step over (protocol 3). What is longer
/// goes on in `Continue` commands.
pub const MAX_TOUCHED: usize = 4_096;
/// Events one command can cause: a fill or a cancel for each touched order, and a few of its own.
pub const MAX_EVENTS: usize = MAX_TOUCHED + 64;
/// Largest journal frame.
pub const MAX_FRAME_BYTES: usize = 1 << 20;
/// Fixed size of an event in the journal.
pub const EVENT_RECORD_BYTES: usize = 48;
/// Largest evidence of one command (order: 11 words, domain, signature; registration: description).
pub const MAX_EVIDENCE_BYTES: usize = 64 * 1024;
/// Longest signature kept as evidence.
pub const MAX_SIGNATURE_BYTES: usize = 1_024;
/// Questions of a neg-risk event.
pub const MAX_QUESTIONS: u32 = 128;
/// Live API keys of an owner (protocol 7).
pub const MAX_LIVE_KEYS: u32 = 16;
/// Highest fee rate, in parts per million.
pub const MAX_FEE_RATE_PPM: u32 = 1_000_000;
/// Highest exponent of a fee schedule.
pub const MAX_FEE_EXPONENT: u8 = 2;
/// A fee is floored to a multiple of this: 5 decimals.
pub const FEE_QUANTUM: Micros = Micros(10);
/// How long a signed request can be sent again: the L2 window of 60 + 10 s, and a margin.
pub const REQUEST_MEMORY_NS: u64 = 90 * 1_000_000_000;
/// Rules 1: remembered requests of `/cancel-all` and `/cancel-market-orders`, for
/// [`REQUEST_MEMORY_NS`]; the oldest gives way. Rules 2 remember none.
pub const MAX_REMEMBERED_REQUESTS: usize = 65_536;
/// How long the reference of an account action is kept: 30 days. References of operators' deposits
/// and withdrawals are kept for ever.
pub const REFERENCE_MEMORY_NS: u64 = 30 * 24 * 3_600 * 1_000_000_000;
/// Rules 1: references of account actions that one account may have remembered.
pub const MAX_REFERENCES_PER_ACCOUNT: u32 = 16_384;
/// References of account actions remembered in all. Rules 1 refuse more; under rules 2 the oldest
/// gives way once its request can no longer be sent again.
pub const MAX_REMEMBERED_REFERENCES: usize = 1 << 20;
/// Rules 2: references of account actions remembered of one account; the account's oldest gives
/// way. A gateway takes at most 50 actions of an owner in 10 s, so a reference outlives its request.
pub const REFERENCES_PER_ACCOUNT: u32 = 512;
/// Rules 2: one owner holds at most this fraction of `remembered_order_ids`, and at least one id.
pub const ORDER_ID_SHARES: u32 = 64;
/// Rules 2: an owner that holds fewer ids than this, and than its share, finds room even when all
/// owners together hold `remembered_order_ids`: many owners cannot keep another one out.
pub const RESERVED_ORDER_IDS: u32 = 1_024;
/// Expired order ids and references forgotten by one placement or action: bounded work that still
/// outpaces arrivals.
pub const FORGOTTEN_PER_COMMAND: usize = 4;
/// The newest rules number this build knows. The engine switches an older journal to it at a start.
pub const NEWEST_RULES: u32 = 2;

const _: () =
    assert!(MAX_EVENTS * EVENT_RECORD_BYTES + MAX_EVIDENCE_BYTES + 4_096 <= MAX_FRAME_BYTES);
