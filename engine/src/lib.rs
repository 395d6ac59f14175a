//! The engine process: ingress, matcher, sync, publisher, recovery.
//!
//! [`run`] is the whole process; `parts.rs` wires it in the order the data moves, `machine.rs` gives
//! each part its thread:
//!
//! ```text
//! gateways ─▶ ingress ─▶ request ring ─▶ matcher ─▶ journal staging ─▶ sync thread ─▶ disk
//!    ▲           ▲                          │                              │
//!    └───────────┴────── held replies ◀── reply ring     durable sequence ◀┘
//! ```
//!
//! The publisher follows the journal like any gateway, executes every command a second time, and
//! publishes snapshots; a difference ends the engine.
//!
//! A reply leaves when the journal is durable up to what it rests on, never before. The engine
//! trusts no length, number or order from a socket, and a peer that breaks the protocol, or does
//! not read, loses its connection and nothing else happens.
//!
//! Deliberately absent: HTTP, JSON, secrets, signatures (a gateway has checked them), rules of the
//! exchange (they are in `foretell-matching`), bytes on disk (`foretell-journal`).

mod accepted;
mod ahead;
pub mod client;
mod clock;
mod config;
mod connection;
mod directory;
mod error;
mod gateways;
mod hand_off;
mod heartbeat;
mod images;
mod ingress;
mod machine;
mod matcher;
mod parts;
mod primitives;
mod published;
mod publisher;
mod recovery;
mod replies;
mod requests;
mod start_up;
mod status;
mod stop;
mod summaries;
mod wait;

pub use config::{Checkpoints, EngineConfig, Publishing, SigningDomain, Threads};
pub use directory::{CHECKPOINTS_NAME, JOURNAL_DIRECTORY, SNAPSHOT_DIRECTORY, SOCKET_NAME};
pub use error::{EXIT_IO_ERROR, EXIT_REFUSED, EngineError};
pub use machine::{Ready, run};
pub use stop::StopHandle;
pub use wait::Waiting;

#[cfg(any(test, fuzzing))]
#[path = "../tests/fuzzing/mod.rs"]
pub mod fuzzing;
#[cfg(all(test, loom))]
#[path = "../tests/loom/models.rs"]
mod models;
#[cfg(test)]
#[path = "../tests/simulation/mod.rs"]
mod simulation;
