//! The exchange as the sync sees it: what is registered there, and the commands it takes. Both go
//! through the operator's surface, like any operator's; of matching nothing is known here.

mod client;
mod command;
mod registered;

pub use client::{Exchange, ExchangeFailure};
pub use command::{Command, EventRegistration, MarketRegistration};
pub use registered::{Registered, Status};
