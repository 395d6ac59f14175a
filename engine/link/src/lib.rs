//! Messages between a gateway and the engine: encode, decode, bounds.
//!
//! A connection is a Unix stream socket. A gateway sends [`Request::Hello`], receives
//! [`Answer::Welcome`], and then sends requests with ids of its choice. Answers carry the request
//! id and come in any order. [`layout`] defines the layout. A peer that breaks the order or a bound
//! is disconnected ([`Violation`]); there is no resynchronisation.
//!
//! Deliberately absent: sockets, threads, clocks, and the meaning of commands. The engine uses this
//! crate with mio, a gateway with tokio. Both read into [`RequestDecoder::space`] or
//! [`AnswerDecoder::space`] and take messages until none is whole.

mod cluster;
mod decoder;
pub mod layout;
mod message;
mod replace;
mod role;
mod status;
mod too_long;
mod violation;

pub use cluster::{CLUSTER_STATUS_BYTES, CLUSTER_STATUS_MAX_AGE_MS, ClusterStatus};
pub use decoder::{AnswerDecoder, RequestDecoder};
pub use message::{
    Answer, Busy, BusyReason, Goodbye, Heartbeat, HeartbeatAnswer, HeartbeatId, Hello, Reply,
    Request, SnapshotAnswer, SnapshotResult, Submit, Welcome,
};
pub use replace::Replace;
pub use role::Role;
pub use status::{
    CLOCK_TOLERANCE, ClockState, SnapshotStatus, Stage, StageBuckets, StageSummary, Status, Timing,
};
pub use too_long::TooLong;
pub use violation::Violation;

/// Version of this protocol. Engine and gateway are one binary, so versions are not negotiated: a
/// different version is rejected with [`Goodbye::Version`].
pub const PROTOCOL_VERSION: u32 = 7;
