//! The frames between a gateway and the engine: encode, decode, bounds.
//!
//! A connection is a Unix stream socket. A gateway says [`Request::Hello`], is answered with
//! [`Answer::Welcome`], and then sends requests under ids of its own choice; answers name the id
//! and come in any order. Every frame is drawn in [`frame`]; whoever breaks the order or a bound
//! is cut off ([`Violation`]), there is no resynchronisation.
//!
//! Deliberately absent: sockets, threads, clocks, any idea of what a command means. The engine
//! does mio around this crate, a gateway tokio; both read into [`RequestDecoder::space`] or
//! [`AnswerDecoder::space`] and take messages out until none is whole.

pub mod frame;
mod inbox;
mod message;
mod record;
mod role;
mod status;
mod violation;

pub use inbox::{AnswerDecoder, RequestDecoder};
pub use message::{
    Answer, Busy, BusyReason, Goodbye, Heartbeat, HeartbeatAnswer, HeartbeatId, Hello, Reply,
    Request, SnapshotAnswer, SnapshotResult, Submit, TooLong, Welcome,
};
pub use role::Role;
pub use status::{Durability, SnapshotStatus, Stage, StageSummary, Status, Timing};
pub use violation::Violation;

/// Version of this protocol. Engine and gateway are one binary, so there is no negotiation:
/// another version is refused with [`Goodbye::Version`].
pub const PROTOCOL_VERSION: u32 = 4;
