//! The engine process as seen by gateways and operator: over the socket, on a real journal, killed
//! and restarted.

#![allow(clippy::unwrap_used, reason = "a test says what it expects by failing")]

mod allocation;
mod background;
mod checkpoints;
mod clocks;
mod cluster;
mod cluster_full_disk;
mod crash;
mod durable;
mod harness;
mod heartbeats;
mod hooked_disk;
mod hostile;
mod images;
mod life;
mod operators;
mod overload;
mod read_model;
mod recorded;
mod replaces;
mod restart;
mod round_trip;
mod snapshot_faults;
mod snapshots;
mod start_checks;
mod tails;
mod timed;
mod world;
