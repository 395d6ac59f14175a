//! Scenarios in a trader's terms; the whole state is checked after every command.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod cancelling;
mod funds;
mod identity;
mod market_life;
mod markets;
mod matching;
mod memory;
mod neg_risk;
mod worked_examples;
mod world;
