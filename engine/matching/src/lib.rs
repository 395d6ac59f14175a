//! The state machine of the exchange: accounts, ladder, matching, fees, lifecycle.
//!
//! [`Exchange::apply`] is the entry point: it takes a command and its time, and returns a verdict
//! and events. The same commands give the same events and the same state on every machine.
//!
//! Deliberately absent: I/O, clocks, threads, floats, text, and internal randomness.
//!
//! `exchange.rs` dispatches commands. `placement` checks an order, plans it and commits the plan; it also
//! keeps orders that wait, with `delayed_queue.rs`. `cancels.rs` cancels orders; `funds.rs` and `shares.rs`
//! move money; `lifecycle.rs` and `event_group.rs` manage markets and event groups. `clock.rs` does what
//! falls due, by `indexed_heap.rs`; `rebates.rs` and `background.rs` pay in steps; `policies.rs` and
//! `resolution.rs` decide payouts; `operators.rs` and `withdrawals.rs` are about people. `book.rs`,
//! `ladder.rs`, `level.rs`, `level_bitmap.rs` and `order_pool.rs` are the book. `id_memory.rs` and
//! `id_expiry_queue.rs` remember order ids, `idempotency.rs` and `action_references.rs` references.
//! `prefetch.rs` prefetches for queued commands. `replay.rs` re-executes journal frames. `state.rs` lists
//! the state, `image.rs` encodes and decodes it, `restore.rs` and its folder rebuild it, `invariants.rs`
//! checks it.

mod accounts;
mod action_references;
mod background;
mod book;
mod cancels;
mod capacity;
mod clock;
mod command_context;
mod decrease;
mod delayed_queue;
mod event_group;
mod exchange;
mod expiry;
mod fees;
mod funds;
mod id_expiry_queue;
mod id_memory;
mod idempotency;
mod image;
mod indexed_heap;
mod indexed_list;
mod invariants;
mod keys;
mod ladder;
mod level;
mod level_bitmap;
mod lifecycle;
mod market;
mod operators;
mod order_pool;
mod placement;
mod policies;
mod positions;
mod prefetch;
mod quotes;
mod rebates;
mod replay;
mod resolution;
mod restore;
mod shares;
mod slab;
mod state;
mod system;
mod table;
mod wallets;
mod withdrawals;

pub use capacity::Capacity;
pub use exchange::Exchange;
pub use image::RestoreError;
pub use prefetch::PrefetchState;
pub use replay::{Difference, Divergence, Replay};
