//! The replicated log on NATS JetStream.
//!
//! A cluster named `foretell` has three streams: `foretell` (subject `foretell.journal`, the
//! messages), `foretell-heartbeat` (one message) and `foretell-hosts` (one message a host).
//! [`JetStreamLog`] implements [`foretell_replication::ReplicatedLog`] on a runtime of its own with
//! one thread, so that the engine's threads stay free of async code. [`admin`] makes and checks the
//! streams.

pub mod admin;
mod follow;
mod log;
mod server_version;
mod settings;
mod stream_config;

pub use log::JetStreamLog;
pub use server_version::ServerVersion;
pub use settings::{Settings, server_host};
