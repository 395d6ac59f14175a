//! The gateway over its sockets.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod edge;
mod greedy;
mod page;
mod server;
mod site;
mod streams;
