//! The engine process as its gateways and its operator meet it: over the socket, on a real
//! journal, killed and started again.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod allocation;
mod crash;
mod durable;
mod harness;
mod heartbeats;
mod hostile;
mod overload;
mod restart;
mod round_trip;
mod world;
