//! The reference exchange: the rules of the core a second time, written to be obviously right.
//!
//! Only lists and maps. Reserved amounts are not stored with accounts: they are computed from the live
//! orders and the withdrawals that wait each time. Each long list has plain maps beside it, so that no
//! command scans it; every map follows from its list (`maps.rs`). Matching has two parts: `plan`
//! computes a plan without changes, and `placing` executes the plan.
//!
//! Deliberately absent: caches, memory bounds, arenas, prefetching, and any use of the core. Where
//! the two differ, `docs/verify/rules.md` decides which one is wrong.

mod accounts;
mod actions;
mod admission;
mod background;
mod cancels;
mod clock;
mod collateral;
mod conservation;
mod decrease;
mod delay;
mod delayed_orders;
mod event_groups;
mod exchange;
mod fees;
mod handler_result;
mod keys;
mod live_order;
mod maps;
mod markets;
mod operators;
mod order_ids;
mod orders;
mod placing;
mod plan;
mod policies;
mod quote_groups;
mod quote_leases;
mod quote_limits;
mod quote_sets;
mod rebates;
mod references;
mod requoting;
mod resolution;
mod settlement;
mod state;
mod state_of_market_life;
mod system;
mod terms;
mod withdrawals;

pub use exchange::Exchange;
