//! The state machine of the exchange: accounts, ladder, matching, fees, lifecycle.
//!
//! [`Exchange::apply`] is the one door: a command and its time go in, a verdict and events come
//! out. The same commands give the same events and the same state everywhere and for ever.
//!
//! Deliberately absent: I/O, clocks, threads, floats, text, and randomness of its own.

mod capacity;
mod exchange;

pub use capacity::Capacity;
pub use exchange::Exchange;
