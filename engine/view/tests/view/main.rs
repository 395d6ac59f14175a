//! The read model, folded from frames.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod books;
mod impossible;
mod layout;
mod market_life;
mod orders;
mod positions;
mod price_history;
mod registry;
#[path = "../scene/mod.rs"]
mod scene;
mod standings;
mod trade_filter;
mod trades;
mod trading;
