//! The naive exchange: the same rules as the real core, written so that they are obviously right.
//!
//! Lists, maps and linear scans only. What can be computed is not stored: reserved amounts, live
//! order counts and the book itself are read off the list of live orders each time. Matching is in
//! two parts: `walk` plans, changing nothing, and `placing` carries the plan out.
//!
//! Deliberately absent: every index, cache and bound on memory, and any knowledge of the real core.
//! Where the two differ, `protocol.md` sections 1 to 5 decide which one is wrong.

mod accounts;
mod actions;
mod admission;
mod answer;
mod cancels;
mod collateral;
mod conservation;
mod events;
mod exchange;
mod fees;
mod keys;
mod markets;
mod memory;
mod orders;
mod placing;
mod settlement;
mod state;
mod system;
mod walk;

pub use exchange::Exchange;
