//! All bounds of the exchange, with compile-time assertions on their relations.

use core::ops::RangeInclusive;

use crate::quantity::{Lots, Micros, PRICE_ONE};

/// Largest order: 10^9 shares.
pub const MAX_ORDER_LOTS: Lots = Lots(100_000_000_000);
/// Largest balance of an account (docs/verify/rules.md §1): 10^15 micros. It also bounds deposits
/// minus withdrawals of the whole exchange, and so the supply of every token. With it no sum in the
/// exchange can overflow.
pub const MAX_BALANCE: Micros = Micros(1_000_000_000_000_000);
/// Resting orders that one command may visit: fill, cancel or skip (docs/verify/rules.md §2).
/// Longer work continues in `Continue` commands.
pub const MAX_VISITED_ORDERS: usize = 4_096;
/// Events of one command: a fill or a cancel per visited order, each fill may freeze a group of quotes, and
/// a few others.
pub const MAX_EVENTS: usize = 2 * MAX_VISITED_ORDERS + 64;
/// Largest journal frame.
pub const MAX_FRAME_BYTES: usize = 1 << 20;
/// Fixed size of an event in the journal.
pub const EVENT_RECORD_BYTES: usize = 48;
/// Largest evidence of one command (order: 11 words, domain, signature; registration: description).
pub const MAX_EVIDENCE_BYTES: usize = 64 * 1024;
/// Longest tail of a command: the list that comes first in the bytes beside it.
pub const MAX_TAIL_BYTES: usize = 8 * 1024;
/// Longest signature kept as evidence.
pub const MAX_SIGNATURE_BYTES: usize = 1_024;
/// Questions of a neg-risk event group.
pub const MAX_QUESTIONS: u32 = 128;
/// Live API keys of an owner (docs/verify/rules.md §17).
pub const MAX_LIVE_KEYS: u32 = 16;
/// Highest fee rate, in parts per million.
pub const MAX_FEE_RATE_PPM: u32 = 1_000_000;
/// Highest exponent of a fee schedule.
pub const MAX_FEE_EXPONENT: u8 = 2;
/// A fee is floored to a multiple of this: 5 decimals.
pub const FEE_QUANTUM: Micros = Micros(10);
/// Time in which a signed request can be resent: the L2 window of 60 + 10 s, and a margin.
pub const REQUEST_MEMORY_NS: u64 = 90 * 1_000_000_000;
/// Retention of references of account actions: 30 days. References of operators' deposits and
/// withdrawals are kept for ever.
pub const REFERENCE_MEMORY_NS: u64 = 30 * 24 * 3_600 * 1_000_000_000;
/// Remembered references of account actions in total; beyond it the oldest is evicted once its
/// request can no longer be resent.
pub const MAX_REMEMBERED_REFERENCES: usize = 1 << 20;
/// Remembered references of account actions per account; the oldest is evicted. A gateway
/// accepts at most 50 actions of an owner in 10 s, so a reference outlives its request.
pub const REFERENCES_PER_ACCOUNT: u32 = 512;
/// Divisor of `remembered_order_ids` for the share of one owner, which is at least one id.
pub const ORDER_ID_SHARES: u32 = 64;
/// An owner with fewer ids than this and than its share finds room even when all owners
/// together have `remembered_order_ids`, so other owners cannot lock it out.
pub const RESERVED_ORDER_IDS: u32 = 1_024;
/// Order ids, references or groups of quotes evicted by one placement, action or set: bounded work that outpaces
/// arrivals.
pub const EVICTED_PER_COMMAND: usize = 4;
/// Longest delay of a taker (docs/verify/rules.md §22).
pub const MAX_TAKER_DELAY_MS: u32 = 60_000;
/// Largest share of a fee that a maker accrues, in parts per million (docs/verify/rules.md §23).
pub const MAX_REBATE_PPM: u32 = 1_000_000;
/// Latest time of a market's clock, in milliseconds: it is representable in nanoseconds.
pub const MAX_CLOCK_MS: u64 = 18_000_000_000_000;
/// Accounts that one step of background work looks at (docs/verify/rules.md §23, §25).
pub const ACCOUNTS_PER_STEP: u32 = 1_024;
/// Longest challenge window: 30 days (docs/verify/rules.md §24).
pub const MAX_WINDOW_SECONDS: u32 = 30 * 24 * 3_600;
/// A challenge window ends no earlier than this long, or its own length if that is shorter, after somebody
/// could dispute again: an hour.
pub const MIN_DISPUTE_SECONDS: u32 = 3_600;
/// Wallets of one list that may propose or dispute.
pub const MAX_LISTED_WALLETS: u32 = 64;
/// Operators ever added, the first admin and the sync included (docs/verify/rules.md §27).
pub const MAX_OPERATORS: u16 = 1_024;
/// Withdrawals of one account that wait (docs/verify/rules.md §30).
pub const WITHDRAWALS_PER_ACCOUNT: u8 = 4;
/// How far ahead a request of a withdrawal may be valid: a day.
pub const MAX_WITHDRAWAL_VALIDITY_MS: u64 = 24 * 3_600 * 1_000;
/// Bytes of the destination of a withdrawal, and of the text of its payment: printable ASCII.
pub const MAX_DESTINATION_BYTES: usize = 128;
/// Characters of the reason of an operator's act.
pub const MAX_REASON_CHARS: usize = 256;
/// Bytes of the source of a proposal: a URL or text.
pub const MAX_SOURCE_BYTES: usize = 1_024;
/// Cancels, and places, of one replace (docs/verify/rules.md §28).
pub const MAX_REPLACE: usize = 15;
/// Commands of one replace.
pub const MAX_GROUP: usize = 2 * MAX_REPLACE;
/// Evidence of one order of a replace; its cancels have none.
pub const MAX_GROUP_EVIDENCE_BYTES: usize = 1_536;
/// Groups of quotes of a wallet (docs/verify/rules.md §32).
pub const QUOTE_GROUPS: u8 = 16;
/// Quotes of a set, conditions of a set, and live quotes of a group.
pub const MAX_QUOTES: usize = 64;
/// Shortest and longest lease of a group of quotes.
pub const QUOTE_LEASE_MS: RangeInclusive<u32> = 500..=60_000;
/// Shortest and longest window of the limits of a group of quotes.
pub const QUOTE_WINDOW_MS: RangeInclusive<u32> = 100..=60_000;
/// How far ahead a set of quotes may be valid: a day.
pub const MAX_QUOTE_VALIDITY_MS: u64 = 24 * 3_600 * 1_000;
/// Highest revision of a set for each millisecond of its timestamp.
pub const QUOTE_REVISIONS_PER_MS: u64 = 1_000;
/// Ids of catalog records from here on are those of operators' own markets, event groups and tags;
/// ids of upstreams are below. Exact as numbers of JSON.
pub const OWN_CATALOG_IDS: u64 = 1 << 50;
/// Rules number of the genesis state: every journal begins under it.
pub const FIRST_RULES: u32 = 1;
/// Newest rules number of this build. At start the engine switches an older journal to it.
pub const NEWEST_RULES: u32 = 1;
/// Changes with every change of a rule or of a record until 0.1.0 is tagged. Hosts of a cluster
/// refuse one with another id, so no two execute one journal differently
/// (docs/internals/decisions/0008).
pub const FORMAT_ID: u32 = 14;

const _: () =
    assert!(MAX_EVENTS * EVENT_RECORD_BYTES + MAX_EVIDENCE_BYTES + 4_096 <= MAX_FRAME_BYTES);
// The largest order at the largest price, and the largest balance, fit with margin.
const _: () = assert!(MAX_ORDER_LOTS.0 <= u64::MAX / (PRICE_ONE as u64 * 4));
const _: () = assert!(MAX_BALANCE.0 <= u64::MAX / 4);
// The Yes of one question resolves it, the outside question and all others, three events each, and cancels
// their orders.
const _: () = assert!(MAX_VISITED_ORDERS + 3 * (MAX_QUESTIONS as usize + 1) < MAX_EVENTS);
// A step pays each account at most once, and ends with one more event.
const _: () = assert!((ACCOUNTS_PER_STEP as usize) < MAX_EVENTS);
const _: () = assert!(MAX_CLOCK_MS <= u64::MAX / 1_000_000);
// A frame counts the orders that its group touched in 16 bits.
const _: () = assert!(MAX_VISITED_ORDERS <= u16::MAX as usize);
