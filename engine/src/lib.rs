//! The engine process: ingress, matcher, sync, publisher, recovery.
//!
//! [`run`] is the whole process; `wiring.rs` wires the parts, `threads.rs` gives each its thread:
//!
//! ```text
//! gateways ─▶ ingress ─▶ request ring ─▶ matcher ─▶ journal staging ─▶ sync thread ─▶ disk
//!    ▲           ▲                          │                              │
//!    └───────────┴────── held replies ◀── reply ring     durable sequence ◀┘
//! ```
//!
//! The publisher follows the journal as a gateway does, executes every command a second time, and
//! publishes snapshots; a difference ends the engine.
//!
//! A reply leaves only when the journal is durable up to the sequence the reply depends on. The
//! engine trusts no length, number or order from a socket. A peer that breaks the protocol, or does
//! not read, loses its connection; nothing else is affected.
//!
//! Deliberately absent: HTTP, JSON, secrets, signatures (the gateway checks them), rules of the
//! exchange (they are in `foretell-matching`), bytes on disk (`foretell-journal`).

pub mod client;
mod clock;
mod cluster;
mod command_ring;
mod config;
mod connection;
mod directory;
mod divergence_overrides;
mod error;
mod format;
mod gateways;
mod heartbeat;
mod ingress;
mod matcher;
mod past;
mod prefetch_queue;
mod primitives;
mod publisher;
mod publisher_mailbox;
mod recovery;
mod replies;
mod requests;
mod run;
mod snapshot_contents;
mod stage_summary_cache;
mod start_check;
mod start_up;
mod status;
mod stop;
mod threads;
mod wait;
mod wiring;

pub use cluster::CLUSTER_STATUS_NAME;
pub use config::{
    Checkpoints, ClusterConfig, ClusterRole, EngineConfig, Publishing, SigningDomain, Threads,
};
pub use directory::{
    CHECKPOINTS_NAME, JOURNAL_DIRECTORY, SNAPSHOT_DIRECTORY, SOCKET_NAME, running_engine,
};
pub use error::{EXIT_IO_ERROR, EXIT_REFUSED, EXIT_SUPERSEDED, EngineError};
pub use format::{FORMAT_NAME, check_format};
pub use past::PastWriter;
pub use run::run;
pub use snapshot_contents::oldest_usable_snapshot;
pub use start_check::{StartReport, check_start};
pub use stop::StopHandle;
pub use threads::Ready;
pub use wait::Waiting;

#[cfg(test)]
#[path = "../tests/cluster/mod.rs"]
mod cluster_simulation;
#[cfg(any(test, fuzzing))]
#[path = "../tests/fuzzing/mod.rs"]
pub mod fuzzing;
#[cfg(all(test, loom))]
#[path = "../tests/loom/models.rs"]
mod models;
#[cfg(test)]
#[path = "../tests/simulation/mod.rs"]
mod simulation;
