//! The exchange's side of the sync: its registered markets and its commands. Both use the operator
//! surface. This module contains no matching.

mod client;
mod command;
mod registered;

pub use client::{Exchange, ExchangeError};
pub use command::{command_line, command_name};
pub use registered::RegisteredMarket;
