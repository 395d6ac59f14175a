//! The messages and their bytes.

#![allow(
    missing_docs,
    reason = "rkyv derives undocumented twins of documented variants"
)]

use foretell_model::limits::MAX_EVIDENCE_BYTES;
use foretell_model::{AccountNumber, Command, FramePlace, Sequence, TimeNs, Verdict};
use rkyv::{Archive, Deserialize, Serialize};
use thiserror::Error;

use crate::frame::{self, MAX_NAME_BYTES};
use crate::record::{self, COMMAND_BYTES};
use crate::role::Role;
use crate::status::{Durability, Status, Timing};
use crate::violation::Violation;

/// A part of a message is longer than its bound, so it cannot be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("{what} of {length} bytes, at most {limit} are allowed")]
pub struct TooLong {
    /// Which part.
    pub what: &'static str,
    /// How long it is.
    pub length: usize,
    /// How long it may be.
    pub limit: usize,
}

/// Who is there; the first frame of a gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hello<'a> {
    /// [`crate::PROTOCOL_VERSION`] of the sender.
    pub version: u32,
    /// What it is there for.
    pub role: Role,
    /// For the log; at most [`MAX_NAME_BYTES`] bytes.
    pub name: &'a str,
}

/// A command to apply.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submit<'a> {
    /// Returned with the answer; unique among the connection's open requests.
    pub request: u64,
    /// What is asked.
    pub command: Command,
    /// What proves it; at most [`MAX_EVIDENCE_BYTES`], opaque here.
    pub evidence: &'a [u8],
}

/// Names an owner's heartbeat chain; all zero = none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Archive, Serialize, Deserialize)]
pub struct HeartbeatId(pub [u8; 16]);

impl HeartbeatId {
    /// No chain: starts one when sent.
    pub const NONE: Self = Self([0; 16]);
}

/// An owner's heartbeat arrived (protocol 9).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Returned with the answer.
    pub request: u64,
    /// Whose.
    pub owner: AccountNumber,
    /// The chain it continues; [`HeartbeatId::NONE`] starts one.
    pub id: HeartbeatId,
}

/// What a gateway sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Request<'a> {
    /// The greeting: first, and once.
    Hello(Hello<'a>),
    /// Answered with `Reply` or `Busy`.
    Submit(Submit<'a>),
    /// Answered with `Heartbeat`, `Busy`, or, when the exchange refuses it, `Reply`.
    Heartbeat(Heartbeat),
    /// Answered with `Status`.
    Status {
        /// Returned with the answer.
        request: u64,
    },
    /// An operator wants an image of everything that is durable now. Answered with `Snapshot` when
    /// it is published, or with `Busy`.
    Snapshot {
        /// Returned with the answer.
        request: u64,
    },
}

/// The engine's greeting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Welcome {
    /// Number of this run's recovery; every answer of this connection carries it.
    pub epoch: u64,
    /// Hash that names the journal; trade ids derive from it.
    pub genesis: [u8; 32],
    /// Last command that cannot be lost.
    pub durable: Sequence,
    /// What an acknowledgement is worth.
    pub durability: Durability,
    /// Engine time.
    pub time: TimeNs,
}

/// The exchange's answer to a command, sent once what it rests on is durable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Reply {
    /// The request it answers.
    pub request: u64,
    /// The answer.
    pub verdict: Verdict,
    /// Applied: the command's own sequence. Else: the sequence of the state it was judged against.
    pub sequence: Sequence,
    /// Applied: the last `Continue` of its work, else `sequence`.
    pub last_sequence: Sequence,
    /// Number of this run's recovery.
    pub epoch: u64,
    /// Where the command's frame stands; all zero when it has none.
    pub place: FramePlace,
    /// How long it took.
    pub timing: Timing,
}

/// Why a request was not looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum BusyReason {
    /// Too many commands are waiting.
    RingFull,
    /// The disk is nearly full; cancels are taken.
    DiskLow,
    /// The engine is stopping.
    Stopping,
}

/// The request was not looked at and changed nothing; it may be sent again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct Busy {
    /// The request it answers.
    pub request: u64,
    /// Why.
    pub reason: BusyReason,
}

/// What became of a heartbeat.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct HeartbeatAnswer {
    /// The request it answers.
    pub request: u64,
    /// Whether the deadline was moved; if not, the id was wrong.
    pub accepted: bool,
    /// The right id; [`HeartbeatId::NONE`] when no chain runs.
    pub id: HeartbeatId,
}

/// What became of the wish for a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum SnapshotResult {
    /// There is an image of the state after this command.
    Published {
        /// Everything that was durable when it was asked for is in it.
        sequence: Sequence,
    },
    /// The disk did not take it; the engine's log says why, and it will try again by itself.
    Failed,
    /// This engine publishes nothing.
    Off,
}

/// The answer to the wish for a snapshot.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub struct SnapshotAnswer {
    /// The request it answers.
    pub request: u64,
    /// What became of it.
    pub result: SnapshotResult,
}

/// Why the engine ends a connection it could still write to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Archive, Serialize, Deserialize)]
pub enum Goodbye {
    /// Another [`crate::PROTOCOL_VERSION`].
    Version,
    /// The cap on connections is reached.
    TooManyConnections,
    /// The engine is stopping; everything it accepted has been answered.
    Stopping,
}

/// What the engine sends.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The greeting: first, and once.
    Welcome(Welcome),
    /// To `Submit`.
    Reply(Reply),
    /// To `Submit`, `Heartbeat` or `Snapshot`.
    Busy(Busy),
    /// To `Heartbeat`.
    Heartbeat(HeartbeatAnswer),
    /// To `Status`.
    Status(Box<Status>),
    /// To `Snapshot`.
    Snapshot(SnapshotAnswer),
    /// The last frame of a connection; may stand before the greeting.
    Goodbye(Goodbye),
}

impl<'a> Request<'a> {
    /// Appends the frame to `out`.
    ///
    /// # Errors
    /// [`TooLong`] when name or evidence pass their bound; `out` is unchanged then.
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        match self {
            Self::Hello(hello) => {
                bounded("name", hello.name.len(), MAX_NAME_BYTES)?;
                frame::write(frame::HELLO, out, |out| {
                    out.extend_from_slice(&hello.version.to_le_bytes());
                    out.push(hello.role as u8);
                    out.extend_from_slice(hello.name.as_bytes());
                });
            }
            Self::Submit(submit) => {
                bounded("evidence", submit.evidence.len(), MAX_EVIDENCE_BYTES)?;
                frame::write(frame::SUBMIT, out, |out| {
                    out.extend_from_slice(&submit.request.to_le_bytes());
                    record::put(&submit.command, out);
                    out.extend_from_slice(submit.evidence);
                });
            }
            Self::Heartbeat(beat) => {
                frame::write(frame::HEARTBEAT, out, |out| record::put(beat, out));
            }
            Self::Status { request } => {
                frame::write(frame::STATUS, out, |out| {
                    out.extend_from_slice(&request.to_le_bytes());
                });
            }
            Self::Snapshot { request } => {
                frame::write(frame::SNAPSHOT, out, |out| {
                    out.extend_from_slice(&request.to_le_bytes());
                });
            }
        }
        Ok(())
    }

    pub(crate) fn decode(kind: u8, payload: &'a [u8]) -> Result<Self, Violation> {
        let request = match kind {
            frame::HELLO => hello(payload).map(Self::Hello),
            frame::SUBMIT => submit(payload).map(Self::Submit),
            frame::HEARTBEAT => record::take(payload).map(Self::Heartbeat),
            frame::STATUS => number(payload).map(|request| Self::Status { request }),
            frame::SNAPSHOT => number(payload).map(|request| Self::Snapshot { request }),
            _ => return Err(Violation::UnknownKind(kind)),
        };
        request.ok_or(Violation::Malformed(kind))
    }
}

impl Answer {
    /// Appends the frame to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Welcome(it) => frame::write(frame::WELCOME, out, |out| record::put(it, out)),
            Self::Reply(it) => frame::write(frame::REPLY, out, |out| record::put(it, out)),
            Self::Busy(it) => frame::write(frame::BUSY, out, |out| record::put(it, out)),
            Self::Heartbeat(it) => {
                frame::write(frame::HEARTBEAT_ANSWER, out, |out| record::put(it, out));
            }
            Self::Status(it) => {
                frame::write(frame::STATUS_ANSWER, out, |out| record::put(&**it, out));
            }
            Self::Snapshot(it) => {
                frame::write(frame::SNAPSHOT_ANSWER, out, |out| record::put(it, out));
            }
            Self::Goodbye(it) => frame::write(frame::GOODBYE, out, |out| record::put(it, out)),
        }
    }

    pub(crate) fn decode(kind: u8, payload: &[u8]) -> Result<Self, Violation> {
        let answer = match kind {
            frame::WELCOME => record::take(payload).map(Self::Welcome),
            frame::REPLY => record::take(payload).map(Self::Reply),
            frame::BUSY => record::take(payload).map(Self::Busy),
            frame::HEARTBEAT_ANSWER => record::take(payload).map(Self::Heartbeat),
            frame::STATUS_ANSWER => {
                record::take(payload).map(|status| Self::Status(Box::new(status)))
            }
            frame::SNAPSHOT_ANSWER => record::take(payload).map(Self::Snapshot),
            frame::GOODBYE => record::take(payload).map(Self::Goodbye),
            _ => return Err(Violation::UnknownKind(kind)),
        };
        answer.ok_or(Violation::Malformed(kind))
    }
}

fn number(payload: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(payload.try_into().ok()?))
}

fn hello(payload: &[u8]) -> Option<Hello<'_>> {
    let (version, rest) = payload.split_first_chunk::<4>()?;
    let (role, name) = rest.split_first()?;
    (name.len() <= MAX_NAME_BYTES).then_some(())?;
    Some(Hello {
        version: u32::from_le_bytes(*version),
        role: Role::from_code(*role)?,
        name: core::str::from_utf8(name).ok()?,
    })
}

fn submit(payload: &[u8]) -> Option<Submit<'_>> {
    let (request, rest) = payload.split_first_chunk::<8>()?;
    let (command, evidence) = rest.split_at_checked(COMMAND_BYTES)?;
    Some(Submit {
        request: u64::from_le_bytes(*request),
        command: record::take(command)?,
        evidence,
    })
}

fn bounded(what: &'static str, length: usize, limit: usize) -> Result<(), TooLong> {
    if length <= limit {
        return Ok(());
    }
    Err(TooLong {
        what,
        length,
        limit,
    })
}
