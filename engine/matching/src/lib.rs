//! The state machine of the exchange: accounts, ladder, matching, fees, lifecycle.
//!
//! [`Exchange::apply`] is the one door: a command and its time go in, a verdict and events come
//! out. The same commands give the same events and the same state everywhere and for ever.
//!
//! Deliberately absent: I/O, clocks, threads, floats, text, and randomness of its own.
//!
//! Where to read: `exchange.rs` hands each command to its handler. An order goes through
//! `admission.rs`, `crossing.rs`, `taker.rs`, `fill.rs`; orders end in `cancels.rs`; money moves
//! in `funds.rs` and `shares.rs`; markets and events live in `lifecycle.rs` and `event.rs`.
//! `ladder.rs`, `level.rs`, `occupancy.rs` and `order_pool.rs` are the book; `order_index.rs` and
//! `timeline.rs` remember ids, `references.rs` and `action_memory.rs` references; `foresight.rs` brings near what a coming command will touch;
//! `replay.rs` executes a record again;
//! `state.rs` lists the state, `image.rs` writes it as bytes and reads it back, `restore.rs` and its
//! folder rebuild it, `invariants.rs` checks it.

mod accounts;
mod action_memory;
mod admission;
mod cancels;
mod capacity;
mod crossing;
mod event;
mod exchange;
mod expiry;
mod fees;
mod fill;
mod foresight;
mod funds;
mod image;
mod invariants;
mod keys;
mod ladder;
mod level;
mod lifecycle;
mod market;
mod occupancy;
mod order_index;
mod order_pool;
mod positions;
mod recall;
mod references;
mod replay;
mod requests;
mod restore;
mod rules;
mod shares;
mod slab;
mod state;
mod step;
mod system;
mod table;
mod taker;
mod timeline;
mod wallets;

pub use capacity::Capacity;
pub use exchange::Exchange;
pub use foresight::Foresight;
pub use image::RestoreError;
pub use replay::{Difference, Divergence, Replay};
